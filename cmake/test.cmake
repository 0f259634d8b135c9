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
  if(TESSERA_SANITIZED)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS "${arg_LABELS}")
  else()
    gtest_discover_tests(${name} PROPERTIES TIMEOUT 300 DISCOVERY_TIMEOUT 120 TEST_LIST ${name}_TESTS)
    # Discovery passes no list on, so labels are set by a file that ctest reads after the tests.
    set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
    file(WRITE ${labels_file}
         "if(${name}_TESTS)\n  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${arg_LABELS}\")\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
  endif()
endfunction()
