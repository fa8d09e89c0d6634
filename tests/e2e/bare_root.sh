#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# Each of the two commands as the first one typed on a bare machine: a minimal root of this host's
# distribution, made afresh, with a clone of this repository in it. Prints the minutes, the megabytes
# fetched and the disk used. Needs root, debootstrap and the package registries; outside CTest.
#   tests/e2e/bare_root.sh [accept] [test] [bench]      bench: what a GPU node would set up
# Takes the commit that is checked out; with ASSAY_WORKTREE=1 the tree as it stands.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/e2e/bare.sh
source "$here/bare.sh"
need debootstrap git

work=$(mktemp -d "${TMPDIR:-/tmp}/assay-bare.XXXXXX")
unmount() {
  local point
  for point in sys proc; do
    ! mountpoint -q "$work/root/$point" || umount -R -l "$work/root/$point"
  done
}
remove() { # FOLDER: never through a mount that is still there
  unmount
  ! grep -q " $work/" /proc/mounts || { echo "still mounted below $work: left as it is" >&2 && return 1; }
  rm -rf --one-file-system "$1"
}
clean() { remove "$work"; }
trap clean EXIT
trap 'exit 130' INT TERM

make_bare_root "$work/bare" >"$work/debootstrap.log" 2>&1 || {
  tail -n 20 "$work/debootstrap.log"
  exit 2
}
copy_project "$work/bare/opt/assay"

# first NAME COMMAND...: in a root of its own; sets code, and log to what was printed
first() {
  local name=$1 start=$SECONDS variables size fetched
  shift
  log=$work/$name.log
  cp -a "$work/bare" "$work/root"
  mount -t proc proc "$work/root/proc"
  mount --bind -o ro /sys "$work/root/sys" # debootstrap has made the few devices that are needed
  mapfile -t variables < <(package_variables)
  code=0
  env -i "${variables[@]}" HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$work/root" sh -c 'cd /opt/assay && exec "$@"' sh "$@" </dev/null >"$log" 2>&1 || code=$?
  unmount
  size=$(du -sxm "$work/root" | cut -f1)
  # apt-get's and pip's own words; pip's for each wheel.
  fetched=$(sed -nE 's/^Need to get ([0-9.,]+) ?([kMG]?B).*/\1\2/p; s/.*Downloading .* \(([0-9.]+) ?([kMG]B)\)$/\1\2/p' \
    "$work/root/opt/assay/build/setup.log" 2>/dev/null | tr -d , | sum_megabytes)
  printf '%s: exit %d, %d s, fetched %d MB, disk %d MB above the bare root\n' "$*" "$code" \
    "$((SECONDS - start))" "$fetched" "$((size - bare_size))"
  remove "$work/root"
}

sum_megabytes() {
  awk '{ scale = /k[bB]/ ? 0.001 : /GB/ ? 1000 : 1; total += $1 * scale } END { printf "%d", total }'
}

failures=0
expect() { # WHAT CONDITION...
  local what=$1
  shift
  if "$@"; then return; fi
  failures=$((failures + 1))
  printf 'FAILED  %s\n' "$what"
  tail -n 60 "$log"
}

bare_size=$(du -sxm "$work/bare" | cut -f1)
(($#)) || set -- accept test
for what in "$@"; do
  case $what in
    accept)
      first accept ./assay accept
      expect "accept judges no GPU: exit 2" test "$code" = 2
      expect "and says so" grep -q 'No GPU was judged' "$log"
      ;;
    test)
      first test ./assay test
      expect "test passes" test "$code" = 0
      expect "and closes with CTest's line" \
        grep -qE '^100% tests passed, 0 tests failed out of [1-9]' <(tail -n 1 "$log")
      tail -n 2 "$log"
      ;;
    bench)
      first bench ./assay setup bench
      expect "the bench part is set up" test "$code" = 0
      ;;
    *) echo "unknown: $what" >&2 && exit 4 ;;
  esac
done
exit "$((failures > 0))"
