#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# docs/RESULTS.md is made from the reports committed beside it, each judged again.
#   results.sh ASSAY            compares, for the tests
#   results.sh ASSAY --write    writes it anew
set -euo pipefail
cd "$(dirname "$0")/../.."
assay=$1

# Verdicts of any kind belong in the page; a report that cannot be judged does not.
judged() {
  local code=0
  "$assay" judge "$1" || code=$?
  ((code <= 2))
}

generate() {
  cat <<'TEXT'
# Measured

Made by `tests/lint/results.sh`: what `assay judge` says of each report under `docs/results/`, by the floors
that the report embeds. The reports are redacted; each names its floors and their sources.
TEXT
  local report
  while read -r report; do
    printf "\n## %s\n\n\`./assay judge %s\`\n\n\`\`\`text\n" "$(dirname "${report#docs/results/}")" "$report"
    judged "$report" || return 1
    echo "\`\`\`"
  done < <(find docs/results -name report.json | LC_ALL=C sort)
}

page=$(mktemp)
trap 'rm -f "$page"' EXIT
generate >"$page"
if [ "${2:-}" = --write ]; then
  cat "$page" >docs/RESULTS.md
else
  diff -u docs/RESULTS.md "$page" || {
    echo "docs/RESULTS.md does not follow from docs/results; run $0 ASSAY --write"
    exit 1
  }
fi
