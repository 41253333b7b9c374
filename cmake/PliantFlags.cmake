# Flags of our own targets; consumers of the installed library see none of them except the alignment.
include(CheckCXXCompilerFlag)

add_library(pliant_flags INTERFACE)
target_compile_options(pliant_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  -ffp-contract=off   # a*b+c is rounded the same in every loop shape, so bits do not depend on vectorisation
  -fno-math-errno)

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(pliant_flags INTERFACE -Wno-bitwise-instead-of-logical) # without branches on purpose
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(pliant_flags INTERFACE -Wno-restrict) # false alarms on "text" + std::string (GCC bug 105651)
endif()

# An installed header must agree with the library about the alignment of Eigen's fixed-size types. The first of the two
# definitions that carry it is only an upper bound (16 without AVX), so both are needed.
set(PLIANT_ALIGNMENT 32)

if(PLIANT_ARCH STREQUAL "default")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    check_cxx_compiler_flag(-march=x86-64-v3 PLIANT_HAS_X86_64_V3)
    if(PLIANT_HAS_X86_64_V3)
      target_compile_options(pliant_flags INTERFACE -march=x86-64-v3)
      set(PLIANT_NEEDS_AVX2 ON)
    endif()
  endif()
elseif(NOT PLIANT_ARCH STREQUAL "any")
  target_compile_options(pliant_flags INTERFACE -march=${PLIANT_ARCH})
endif()

# With a sanitizer in between GCC 12 warns of the standard library's own strings and regular expressions: only here
# warnings are no errors.
if(PLIANT_SANITIZE)
  target_compile_options(pliant_flags INTERFACE -fsanitize=${PLIANT_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all -Wno-error)
  target_link_options(pliant_flags INTERFACE -fsanitize=${PLIANT_SANITIZE})
  target_compile_definitions(pliant_flags INTERFACE PLIANT_SANITIZED)
  if(PLIANT_SANITIZE MATCHES "thread")
    target_compile_definitions(pliant_flags INTERFACE PLIANT_SANITIZED_THREADS)
  endif()
endif()

# What nearly every file of the library and its tests includes. A file still names what it uses: the debug preset builds
# without. Not for the tools: GCC 12 warns of overflows in the standard library's strings when they are precompiled.
function(pliant_precompile target)
  if(PLIANT_PCH)
    target_precompile_headers(${target} PRIVATE <Eigen/Core> <Eigen/Geometry> <algorithm> <array> <cmath> <filesystem>
                                                <functional> <map> <memory> <optional> <span> <string> <vector> ${ARGN})
  endif()
endfunction()
