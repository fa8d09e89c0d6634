#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# Shellcheck over every shell script that git tracks or would track.
set -euo pipefail
cd "$(dirname "$0")/../.."
mapfile -t files < <(git -c safe.directory='*' grep --untracked -lIE '^#!(/usr/bin/env |/bin/)(ba)?sh' -- ':!*.md')
# SC2317: it takes functions that a trap or another function is given for unreachable. SC2016: single
# quotes around $ and ` are meant here, for inner shells and Markdown.
shellcheck -x -e SC2317,SC2016 "${files[@]}" configs/pins.env
printf 'scripts: %d files\n' "$((${#files[@]} + 1))"
