#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# clang-format-19 over every C++ and CUDA file that git tracks or would track; --fix rewrites them.
set -euo pipefail
cd "$(dirname "$0")/../.."
how=(--dry-run -Werror)
[[ ${1-} != --fix ]] || how=(-i)

files=()
while IFS= read -r -d '' file; do
  [[ ! -f $file ]] || files+=("$file")
done < <(git -c safe.directory='*' ls-files -z -co --exclude-standard -- '*.cc' '*.h' '*.cu' '*.cuh')
((${#files[@]})) || exit 0
if ! found=$(printf '%s\0' "${files[@]}" |
  xargs -0 -n 40 -P "$(nproc)" clang-format-19 "${how[@]}" 2>&1); then
  sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/\1: not formatted/p' <<<"$found" | sort -u
  printf 'format: tests/lint/format.sh --fix rewrites them\n'
  exit 1
fi
printf 'format: %d files\n' "${#files[@]}"
