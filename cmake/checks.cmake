# SPDX-License-Identifier: Apache-2.0
# Checks that need no code of ours to run: headers alone, who includes whom, symbols of the ISA objects.
if(NOT TESSERA_BUILD_TESTS OR BUILD_SHARED_LIBS OR TESSERA_SANITIZED)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/tessera/*.hpp)
foreach(header ${headers})
  add_test(NAME Headers.${header}.CompilesAlone
           COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I${PROJECT_SOURCE_DIR}/include
                   -include ${header} -x c++ /dev/null)
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/include/tessera/tessera.h)
  set(c_header -Wall -Wextra -Werror -fsyntax-only -I${PROJECT_SOURCE_DIR}/include -include tessera/tessera.h)
  add_test(NAME Headers.tessera/tessera.h.IsC99 COMMAND ${CMAKE_C_COMPILER} -std=c99 -pedantic-errors ${c_header} -x c /dev/null)
  add_test(NAME Headers.tessera/tessera.h.IsCxx COMMAND ${CMAKE_CXX_COMPILER} -std=c++11 -pedantic-errors ${c_header} -x c++ /dev/null)
endif()

add_test(NAME Includes.FollowTheTable COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_includes.py)

foreach(isa ${TESSERA_ISAS})
  set(objects "")
  foreach(target tessera_${isa} tessera_unfused_${isa})
    if(TARGET ${target})
      list(APPEND objects $<TARGET_OBJECTS:${target}>)
    endif()
  endforeach()
  add_test(NAME Symbols.${isa}.StayInTheirNamespace
           COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_isa_symbols.py ${CMAKE_NM} ${isa} ${objects}
           COMMAND_EXPAND_LISTS)
endforeach()

add_test(NAME Symbols.NothingFollowsTheLocale
         COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_locale_symbols.py ${CMAKE_NM} $<TARGET_FILE:tessera>)

if(TARGET example_attention)
  add_test(NAME Readme.ExampleAndLinksAreRight
           COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check_readme.py $<TARGET_FILE:example_attention>)
endif()
