#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# docs/RESULTS.md is made from the reports committed beside it.
#   results.sh ASSAY            compares, for the tests
#   results.sh ASSAY --write    writes it anew
set -euo pipefail
cd "$(dirname "$0")/../.."
assay=$1

generate() {
  echo '# Measured'
  echo
  echo 'Made by `tests/lint/results.sh` from the reports under `docs/results/`, which are redacted. Each is'
  echo 'judged again here, with the targets that it embeds.'
  find docs/results -name report.json | LC_ALL=C sort | while read -r report; do
    printf '\n## %s\n\n' "$(dirname "${report#docs/results/}")"
    printf '`./assay judge %s`\n\n' "$report"
    "$assay" report "$report" --md - | sed 's/^#/##/'
  done
}

if [ "${2:-}" = --write ]; then
  generate >docs/RESULTS.md
else
  diff -u docs/RESULTS.md <(generate) || {
    echo "docs/RESULTS.md does not follow from docs/results; run $0 ASSAY --write"
    exit 1
  }
fi
