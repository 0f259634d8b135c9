# SPDX-License-Identifier: Apache-2.0
# tessera_test(name sources... [LIBRARIES ...] [LABELS ...]): a GoogleTest binary that may see the library's inside.
#
# The label `slow` keeps a binary out of `make quick` and of sanitizer builds; only those with `threads` are
# built under the thread sanitizer. A sanitizer build runs each binary as one test, since starting a process costs more
# there than most tests do.
function(tessera_test name)
  if(NOT TESSERA_BUILD_TESTS OR BUILD_SHARED_LIBS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LIBRARIES;LABELS" ${ARGN})
  if(TESSERA_SANITIZED AND "slow" IN_LIST arg_LABELS)
    return()
  endif()
  if(TESSERA_SANITIZED STREQUAL thread AND NOT "threads" IN_LIST arg_LABELS)
    return()
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE tessera GTest::gtest GTest::gmock GTest::gtest_main rapidcheck ${arg_LIBRARIES})
  # One label is shown: CMake's discovery of tests passes no list on.
  set(labels "")
  if(arg_LABELS)
    list(GET arg_LABELS -1 label)
    set(labels LABELS ${label})
  endif()
  if(TESSERA_SANITIZED)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 ${labels})
  else()
    gtest_discover_tests(${name} PROPERTIES TIMEOUT 300 ${labels} DISCOVERY_TIMEOUT 120)
  endif()
endfunction()
