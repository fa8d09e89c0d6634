# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# assay_options: what every target of ours is compiled with. Packages are not.
add_library(assay_options INTERFACE)
target_include_directories(assay_options INTERFACE "${CMAKE_SOURCE_DIR}")
set(host_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                  -Woverloaded-virtual -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of GCC 12 on std::string and std::optional (PR105651, PR105562).
  list(APPEND host_warnings -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(ASSAY_WERROR)
  list(APPEND host_warnings -Werror)
endif()
target_compile_options(assay_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${host_warnings}>")
if(ASSAY_CUDA)
  # nvcc's generated host code is not -Wpedantic clean.
  set(device_warnings -Wall,-Wextra)
  if(ASSAY_WERROR)
    string(APPEND device_warnings ",-Werror")
    target_compile_options(assay_options INTERFACE
                           "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--Werror all-warnings>")
  endif()
  target_compile_options(assay_options INTERFACE
                         "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler ${device_warnings}>")
endif()
# Messages name source files; where they were built is nobody's concern.
target_compile_options(assay_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>")
if(ASSAY_SANITIZE)
  target_compile_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
