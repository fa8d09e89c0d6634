# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# Target NCCL::NCCL, from the system, from the toolkit or from the folder of a wheel, which holds
# include/ and, in lib/, a library of its versioned name alone: -DNCCL_ROOT=.../nvidia/nccl. An older
# version than 2.19 lacks what the family calls. Call it after find_package(CUDAToolkit).
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2
             HINTS "${NCCL_INCLUDE_DIR}/../lib" ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)

if(NCCL_INCLUDE_DIR)
  set(NCCL_VERSION "")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS "${NCCL_INCLUDE_DIR}/nccl.h" line LIMIT_COUNT 1
         REGEX "^#define NCCL_${part} +[0-9]+")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    list(APPEND NCCL_VERSION "${number}")
  endforeach()
  list(JOIN NCCL_VERSION "." NCCL_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
                                  VERSION_VAR NCCL_VERSION)
if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
  add_library(NCCL::NCCL UNKNOWN IMPORTED)
  set_target_properties(NCCL::NCCL PROPERTIES IMPORTED_LOCATION "${NCCL_LIBRARY}")
  # The toolkit's own headers come first: another's cuda_runtime.h must not get between them.
  target_link_libraries(NCCL::NCCL INTERFACE CUDA::cudart)
  target_include_directories(NCCL::NCCL SYSTEM AFTER INTERFACE "${NCCL_INCLUDE_DIR}")
endif()
