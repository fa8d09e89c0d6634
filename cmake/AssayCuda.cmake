# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# Machine code for A100, H100/H200 and, where the compiler knows it, B200; PTX of 8.0 for the rest.
# Chosen before enable_language(CUDA), which would otherwise pick one of its own.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 80-virtual)
  find_program(ASSAY_NVCC nvcc HINTS ENV CUDACXX "${CUDAToolkit_ROOT}/bin" ENV CUDA_HOME
               PATHS /usr/local/cuda/bin PATH_SUFFIXES bin)
  if(CMAKE_CUDA_COMPILER)
    set(nvcc "${CMAKE_CUDA_COMPILER}")
  else()
    set(nvcc "${ASSAY_NVCC}")
  endif()
  execute_process(COMMAND "${nvcc}" --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  if(known MATCHES "compute_100")
    list(APPEND CMAKE_CUDA_ARCHITECTURES 100-real)
  endif()
endif()

# One libcudart a process: the shared one, which the CUDA libraries use too.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
# CMake 3.25.1 does not know nvcc's C++20 flag (3.25.2 does).
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
# CMake 3.25.1 sets a property of CUDA::nvToolsExt without asking whether it exists; CUDA 13 has none.
if(CMAKE_VERSION VERSION_LESS 3.25.2 AND NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
find_package(CUDAToolkit 12.4 REQUIRED)
