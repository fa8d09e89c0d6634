#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# Every check of style on a build that is current: tests/lint/all.sh build/ci
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
failed=()

step() { # NAME COMMAND...: a failed step does not hide the next
  local name=$1
  shift
  "$@" || failed+=("$name")
}

step format "$here/format.sh"
step scripts "$here/scripts.sh"
step docs python3 "$here/docs.py" "$1/bin/assay"
step tidy python3 "$here/tidy.py" "$1"
((${#failed[@]} == 0)) || printf 'lint: failed: %s\n' "${failed[*]}"
exit "$((${#failed[@]} > 0))"
