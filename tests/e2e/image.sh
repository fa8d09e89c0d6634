#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# Builds docker/Dockerfile for real, on a minimal root of this host's distribution instead of a
# downloaded base, and runs the image as its own user. Needs root, buildah, debootstrap and the
# package registries, no daemon; outside CTest.
#   tests/e2e/image.sh                      the commit that is checked out (ASSAY_WORKTREE=1: the tree)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/e2e/bare.sh
source "$here/bare.sh"
need debootstrap buildah git

work=$(mktemp -d "${TMPDIR:-/tmp}/assay-image.XXXXXX")
# Storage of its own: no image of this host is touched, and all goes with the folder.
build=(buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs)
clean() {
  "${build[@]}" rm --all >/dev/null 2>&1 || true
  rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

make_bare_root "$work/bare" >"$work/log" 2>&1 || {
  tail -n 20 "$work/log"
  exit 2
}
copy_project "$work/project"
container=$("${build[@]}" from scratch)
"${build[@]}" add --quiet "$container" "$work/bare" / >/dev/null
"${build[@]}" commit --quiet "$container" localhost/assay-bare:1 >/dev/null
"${build[@]}" rm "$container" >/dev/null
rm -rf --one-file-system "$work/bare"

start=$SECONDS
"${build[@]}" build --isolation chroot --pull-never --build-arg BASE=localhost/assay-bare:1 \
  --tag localhost/assay:1 -f "$work/project/docker/Dockerfile" "$work/project"
echo "image built in $((SECONDS - start)) s, $("${build[@]}" images --format '{{.Size}}' localhost/assay:1)"

container=$("${build[@]}" from --pull-never localhost/assay:1)
# buildah run ignores the entry point, which is what is to be tested here.
entry=$("${build[@]}" inspect --format '{{index .OCIv1.Config.Entrypoint 0}}' "$container")
in_image() { "${build[@]}" run --isolation chroot "$container" -- "$@" </dev/null >"$work/out" 2>&1; }

failures=0
expect() { # WHAT CODE COMMAND...
  local what=$1 wanted=$2 code=0
  shift 2
  in_image "$@" || code=$?
  if ((code == wanted)); then
    echo "ok      $what"
  else
    failures=$((failures + 1))
    echo "FAILED  $what: exit code $code, not $wanted"
    cat "$work/out"
  fi
}
expect "its user is not root" 0 sh -c '[ "$(id -u)" != 0 ]'
expect "list suites" 0 "$entry" list suites
expect "accept judges no GPU" 2 "$entry" accept
expect "and leaves its report where the user can write" 0 test -s out/report.json
exit "$((failures > 0))"
