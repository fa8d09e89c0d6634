# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# Target cuSPARSELt::cuSPARSELt, from the system or from the folder of a wheel, which holds include/
# and, in lib/, a library of its versioned name alone: -DcuSPARSELt_ROOT=.../nvidia/cusparselt. Its
# header includes cuSPARSE's, of which only types are used. Call it after find_package(CUDAToolkit).
find_path(cuSPARSELt_INCLUDE_DIR cusparseLt.h)
find_library(cuSPARSELt_LIBRARY NAMES cusparseLt libcusparseLt.so.0
             HINTS "${cuSPARSELt_INCLUDE_DIR}/../lib")
find_path(cuSPARSELt_CUSPARSE_INCLUDE_DIR cusparse.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
mark_as_advanced(cuSPARSELt_INCLUDE_DIR cuSPARSELt_LIBRARY cuSPARSELt_CUSPARSE_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuSPARSELt REQUIRED_VARS
  cuSPARSELt_LIBRARY cuSPARSELt_INCLUDE_DIR cuSPARSELt_CUSPARSE_INCLUDE_DIR)
if(cuSPARSELt_FOUND AND NOT TARGET cuSPARSELt::cuSPARSELt)
  add_library(cuSPARSELt::cuSPARSELt UNKNOWN IMPORTED)
  set_target_properties(cuSPARSELt::cuSPARSELt PROPERTIES
    IMPORTED_LOCATION "${cuSPARSELt_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${cuSPARSELt_INCLUDE_DIR}")
  # The toolkit's own headers come first: another's cuda_runtime.h must not get between them.
  target_link_libraries(cuSPARSELt::cuSPARSELt INTERFACE CUDA::cudart)
  target_include_directories(cuSPARSELt::cuSPARSELt SYSTEM AFTER INTERFACE
                             "${cuSPARSELt_CUSPARSE_INCLUDE_DIR}")
endif()
