# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DSOURCE=... -DOUTPUT=... -P Revision.cmake: writes the revision of the source tree as C++.
execute_process(COMMAND git -C "${SOURCE}" describe --tags --always --dirty
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(WRITE "${OUTPUT}" "#include \"cli/revision.h\"\nnamespace assay {\n"
     "const char* revision() { return \"${revision}\"; }\n}  // namespace assay\n")
