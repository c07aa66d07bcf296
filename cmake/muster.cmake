# One static library per folder. The suffix of a file decides which target picks it up:
#
#   name.cpp            the library muster_<folder>
#   name_test.cpp       muster_<folder>_test       ctest label `fast`
#   name_full_test.cpp  muster_<folder>_full_test  ctest label `full`: `./dev test full` only
#   name_bench.cpp      muster_<folder>_bench
#   name_fuzz.cpp       a libFuzzer program of its own, named after the file
#   main.cpp            nobody: the folder's CMakeLists.txt says what it is
#
#   muster_library(<folder> [LINK <libraries>...] [TEST_LINK <libraries>...] [THREAD])
#
# LINK names what the folder's arrow in the map names. THREAD makes the fast tests' label
# `fast-thread` (discovery takes one label), which sends them through the thread sanitizer too.
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(benchmark REQUIRED)
find_package(fmt REQUIRED)
include(GoogleTest)

# Designated initialisers name what differs from the default; -Wextra wants every field named.
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers -Werror)
# g++ counts __int128 as pedantry and has no switch for that alone.
add_compile_options($<$<CXX_COMPILER_ID:Clang>:-Wpedantic>)

function(muster_library folder)
  cmake_parse_arguments(ARG "THREAD" "" "LINK;TEST_LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB headers CONFIGURE_DEPENDS *.h)
  foreach(kind test full_test bench fuzz)
    set(${kind} ${sources})
    list(FILTER ${kind} INCLUDE REGEX "_${kind}\\.cpp$")
  endforeach()
  list(FILTER test EXCLUDE REGEX "_full_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|/main)\\.cpp$")

  set(name muster_${folder})
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC ${ARG_LINK} fmt::fmt)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_LINK} fmt::fmt)
  endif()

  if(MUSTER_FUZZ)
    foreach(source ${fuzz})
      get_filename_component(target ${source} NAME_WE)
      add_executable(${target} ${source})
      target_link_libraries(${target} PRIVATE ${name})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    endforeach()
  endif()

  set(label fast)
  if(ARG_THREAD)
    set(label fast-thread)
  endif()
  muster_test(${name}_test ${label} "${test}" ${name} ${ARG_TEST_LINK})
  muster_test(${name}_full_test full "${full_test}" ${name} ${ARG_TEST_LINK})
  if(bench AND MUSTER_BENCH)
    add_executable(${name}_bench ${bench})
    target_link_libraries(${name}_bench PRIVATE ${MUSTER_ALLOCATOR} ${name} benchmark::benchmark_main)
    set_target_properties(${name}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  endif()
  if(headers AND MUSTER_HEADERS)
    muster_headers(${name} ${headers})
  endif()
endfunction()

# One GoogleTest program out of all files of a kind, found by ctest test by test.
function(muster_test target label sources)
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE ${ARGN} rapidcheck GTest::gmock GTest::gtest_main)
  if(label MATCHES "thread")  # all that the tsan preset needs to build
    if(NOT TARGET thread_tests)
      add_custom_target(thread_tests)
    endif()
    add_dependencies(thread_tests ${target})
  endif()
  set(timeout 120)
  if(label STREQUAL "full")
    set(timeout 1800)
  endif()
  gtest_discover_tests(${target}
    PROPERTIES LABELS ${label} TIMEOUT ${timeout}
    DISCOVERY_TIMEOUT 60)
endfunction()

# A header compiles on its own: one generated file includes it, twice, and nothing else. A header with a .cpp of
# its name has shown it there, where it stands first (tools/tidy).
function(muster_headers library)
  set(generated)
  foreach(header ${ARGN})
    string(REGEX REPLACE "\\.h$" ".cpp" own ${header})
    if(EXISTS ${own})
      continue()
    endif()
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/src ${header})
    set(file ${CMAKE_BINARY_DIR}/headers/${path}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${path}\"\n#include \"${path}\"\n")
    list(APPEND generated ${file})
  endforeach()
  if(NOT generated)
    return()
  endif()
  add_library(${library}_headers OBJECT ${generated})
  target_link_libraries(${library}_headers PRIVATE ${library})
endfunction()
