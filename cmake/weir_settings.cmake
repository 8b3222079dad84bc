# Flags of every weir target: portable code (kernels choose their target at run time), no contraction
# of a*b+c (results must be the same bits on every target), warnings as errors in CI.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

option(WEIR_WERROR "Warnings are errors" OFF)
set(WEIR_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

add_library(weir_settings INTERFACE)
target_compile_features(weir_settings INTERFACE cxx_std_20)
target_include_directories(weir_settings INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_options(weir_settings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -ffp-contract=off
                       $<$<BOOL:${WEIR_WERROR}>:-Werror>
                       # g++ 12 sees overlaps in "text" + std::string that are not there (PR 105651).
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Targets older than SSE4 and between SSE4 and AVX2 gain nothing for us and cost build time.
target_compile_definitions(weir_settings INTERFACE HWY_DISABLED_TARGETS=HWY_SSSE3)
if(WEIR_SANITIZE)
  target_compile_options(weir_settings INTERFACE -fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_link_options(weir_settings INTERFACE -fsanitize=${WEIR_SANITIZE})
endif()
if(WEIR_FUZZERS)
  set(WEIR_FUZZ_SANITIZE address,undefined)
  target_compile_options(weir_settings INTERFACE -fsanitize=fuzzer-no-link,${WEIR_FUZZ_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(weir_settings INTERFACE -fsanitize=${WEIR_FUZZ_SANITIZE})
endif()
