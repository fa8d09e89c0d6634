#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0

# What ./assay does around the program, on a project of one file: it takes seconds and touches no
# tree of ours; only the first check times the real one. Needs what the core needs, and no GPU, root
# or network. 77: not here.
set -uo pipefail
source_root=$(cd "$(dirname "$0")/../.." && pwd -P)
for tool in cmake ninja g++ flock; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool" && exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
failures=0

# run COMMAND...: sets code, out and err
run() {
  out=$("$@" 2>"$work/err" </dev/null)
  code=$?
  err=$(<"$work/err")
}

check() { # WHAT CONDITION...
  local what=$1
  shift
  if "$@"; then
    echo "ok      $what"
  else
    failures=$((failures + 1))
    printf 'FAILED  %s: exit code %s\n-- stdout\n%s\n-- stderr\n%s\n' "$what" "$code" "$out" "$err"
  fi
}
is() { [[ $1 == "$2" ]]; }
has() { [[ $1 == *"$2"* ]]; }
lacks() { ! has "$@"; }
code_and_word() { [[ $code == "$1" && $err == *"$2"* ]]; }
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
configured() { wc -l <"$project/configured.txt"; }

# ---- time, of the real tree and in the environment that it was set up in -----------------------

median_ms() { # COMMAND...: of twenty runs
  local start
  for _ in {1..20}; do
    start=${EPOCHREALTIME/./}
    "$@" >/dev/null 2>&1
    echo $(((${EPOCHREALTIME/./} - start) / 1000))
  done | sort -n | sed -n 10p
}

# The build under which CTest runs this script (it says where), or the one ./assay list would use.
own_preset=${ASSAY_BIN_DIR-}
own_preset=${own_preset%/bin}
for preset in "${own_preset##*/}" release cpu-only; do
  [[ -e $source_root/build/$preset/.assay-stamp ]] || continue
  own=$(median_ms "$source_root/build/$preset/bin/assay" list suites)
  whole=$(ASSAY_PRESET=$preset median_ms "$source_root/assay" list suites)
  code=0 out="$whole ms, of which the program $own ms" err=''
  check "list suites in build/$preset takes $out" test "$((whole - own))" -lt 1000
  break
done

# ---- the bench: a project, a machine without CUDA, tools that only take note -------------------

make_project() { # FOLDER
  mkdir -p "$1/configs"
  cp "$source_root/assay" "$source_root/CMakePresets.json" "$1/"
  cp "$source_root/configs/pins.env" "$1/configs/"
  cat >"$1/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(front_door LANGUAGES CXX)
file(APPEND ${CMAKE_SOURCE_DIR}/configured.txt "once\n")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
add_executable(assay main.cc)
if(ASSAY_TESTS)
  enable_testing()
  add_test(NAME device COMMAND sh -c "exit 77")
  add_test(NAME service COMMAND sh -c "exit 77")
  set_tests_properties(device service PROPERTIES SKIP_RETURN_CODE 77)
  set_tests_properties(device PROPERTIES LABELS gpu)
  add_test(NAME marker COMMAND test ! -e ${CMAKE_SOURCE_DIR}/break)
endif()
EOF
  cat >"$1/main.cc" <<'EOF'
#include <cstdio>
int main(int count, char** words) {
  for (int i = 1; i < count; ++i) std::printf("%s\n", words[i]);
  return count > 1 && words[1][0] == 'r' ? 1 : 0;
}
EOF
}

make_tools() { # FOLDER: every program of this machine but those that bring CUDA or packages
  local dir name
  mkdir -p "$1"
  IFS=: read -r -a dirs <<<"$PATH"
  for dir in "${dirs[@]}"; do
    [[ -d $dir ]] && find -L "$dir" -maxdepth 1 -type f -perm -u+x -print0 2>/dev/null
  done | xargs -0 ln -s -t "$1" 2>/dev/null
  rm -f "$1"/{nvcc,apt-get,sudo}
  for name in apt-get sudo; do
    printf '#!/bin/sh\necho "%s $*" >>"%s"\nexit 1\n' "$name" "$work/called" >"$1/$name"
    chmod +x "$1/$name"
  done
}

make_host() { # FOLDER [DRIVER]: a machine with one NVIDIA GPU on its bus
  local device=$1/sys/bus/pci/devices/0000:19:00.0
  mkdir -p "$device" "$1/proc"
  echo 0x10de >"$device/vendor"
  echo 0x030200 >"$device/class"
  [[ $# == 1 ]] || { mkdir -p "$1/sys/module/nvidia" && echo "$2" >"$1/sys/module/nvidia/version"; }
}

project="$work/a folder/front door"
make_project "$project"
make_tools "$work/tools"
mkdir "$work/bare"
unset ASSAY_PRESET ASSAY_WITH ASSAY_WHEELS CUDA_HOME CUDACXX CUDAHOSTCXX
export PATH=$work/tools ASSAY_HOST_ROOT=$work/bare
door=$project/assay

# ---- building ----------------------------------------------------------------------------------

run "$door" list "two words" --format json
check "the first command builds, then runs" is "$code" 0
check "stdout is the program's alone" is "$out" $'list\ntwo words\n--format\njson'
check "what is built is said on stderr" has "$err" "building (cpu-only)"
check "nothing was installed" test ! -e "$work/called"

log_time=$(stat -c %y "$project/build/cpu-only/build.log")
run "$door" report
check "the program's exit code is passed on" is "$code" 1
check "nothing is said when nothing is stale" is "$err" ""
check "an idle build leaves the last log" is "$log_time" "$(stat -c %y "$project/build/cpu-only/build.log")"
check "an idle build does not configure" is "$(configured)" 1

ln -s "$door" "$work/link"
run env -C / "$work/link" list
check "through a link and from another folder" is "$code$out" "0list"
run env -C "$project" bash assay list
check "as 'bash assay'" is "$code$out" "0list"
run env -u HOME "$door" list
check "without HOME" is "$code$out" "0list"
run "$door" list --no-install
check "--no-install is the door's own" is "$code$out" "0list"

sed -i 's/"%s\\n", words/"<%s>\\n", words/' "$project/main.cc"
run "$door" list
check "a changed source is built" is "$out" "<list>"
check "and does not configure" is "$(configured)" 1
echo "# touched" >>"$project/configs/pins.env"
run "$door" list
check "a changed pin configures again" is "$code$(configured)" "02"
mv "$project" "$project moved"
project+=" moved"
door=$project/assay
run "$door" list
check "a tree that was moved works" is "$code$out" "0<list>"

cp "$project/main.cc" "$work/good.cc"
echo "int broken(" >>"$project/main.cc"
run "$door" list
check "a build that breaks is 3 and names its log" code_and_word 3 "build/cpu-only/build.log"
check "and shows the compiler's words" has "$err" "error:"
cp "$work/good.cc" "$project/main.cc"

rm -rf "$project/build"
: >"$project/configured.txt"
"$door" list one >"$work/one" 2>"$work/one.err" &
"$door" list two >"$work/two" 2>"$work/two.err" &
wait
run cat "$work/one" "$work/two"
check "two at once both run" is "$out" $'<list>\n<one>\n<list>\n<two>'
check "and the tree is set up once" is "$(configured)" 1

# ---- tests -------------------------------------------------------------------------------------

run "$door" test
check "test passes" is "$code" 0
# CTest 4 words its closing line otherwise: "100% tests passed out of 3".
check "test closes with CTest's line, skips before it" is \
  "$(tail -n 2 <<<"$out" | sed 's/passed, 0 tests failed out/passed out/')" \
  $'2 tests were skipped; 1 of these need a GPU\n100% tests passed out of 3'
touch "$project/break"
run "$door" test -R marker
check "a failing test is 1" is "$code" 1
check "and the closing line says so" has "$(tail -n 1 <<<"$out")" "1 tests failed out of 1"
rm "$project/break"
run "$door" test -R matches-nothing
check "no test at all is 2" is "$code" 2

# ---- usage -------------------------------------------------------------------------------------

run "$door" setup
check "setup without a part is 4" code_and_word 4 "core|bench"
run "$door" setup everything
check "setup of an unknown part is 4" code_and_word 4 "everything"
run env ASSAY_WITH=cudda "$door" setup core
check "an unknown component is 4" code_and_word 4 "cudda"
run env ASSAY_WHEELS="$work/none" "$door" list
check "a folder of wheels that is not there is 4" code_and_word 4 "$work/none"

# ---- set-up ------------------------------------------------------------------------------------

ninja=$(readlink "$work/tools/ninja")
rm "$work/tools/ninja"
run "$door" --no-install list
check "--no-install refuses" code_and_word 2 "missing: ninja-build"
check "with the command that brings it" has "$err" \
  "apt-get install -y --no-install-recommends ninja-build"
check "in one line" is "$(wc -l <<<"$err")" 1
check "and calls nothing" test ! -e "$work/called"
if ((EUID == 0)); then
  run "$door" list
  check "what will be installed is said first" has "$err" "will install, with apt-get: ninja-build"
  check "a failed install is 2 and says what to do" code_and_word 2 "by hand: apt-get update"
  check "apt-get was asked" has "$(<"$work/called")" "install -y --no-install-recommends ninja-build"
  chmod -R a+rwX "$work/a folder"
  user=(as_nobody)
else
  user=()
fi
run "${user[@]}" "$door" list
check "without root and sudo: one line, 2" code_and_word 2 "only root may install it: sudo apt-get"
ln -s "$ninja" "$work/tools/ninja"
rm -f "$work/called"

make_host "$work/old" 525.147.05
run env ASSAY_HOST_ROOT="$work/old" "$door" accept
check "a driver too old for CUDA 13 is 2" code_and_word 2 "driver 525.147.05 is too old for CUDA 13"
check "in one line" is "$(wc -l <<<"$err")" 1
run env ASSAY_HOST_ROOT="$work/old" "$door" list
check "and no matter to the core" is "$code" 0

make_host "$work/open"
mkdir -p "$work/open/proc/driver/nvidia"
echo "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.183.01  Release Build" \
  >"$work/open/proc/driver/nvidia/version"
run env ASSAY_HOST_ROOT="$work/open" "$door" run quick
check "the version is read from /proc too" code_and_word 2 "driver 535.183.01 is too old"

make_host "$work/new" 580.95.05
run env ASSAY_HOST_ROOT="$work/new" "$door" --no-install accept
check "a GPU asks for the bench part" code_and_word 2 "nvidia-cuda-nvcc=="
check "but not for its optional pieces" lacks "$err" "nvidia-cusparselt"
run env ASSAY_HOST_ROOT="$work/new" ASSAY_WITH=cusparselt,nccl "$door" --no-install accept
check "which ASSAY_WITH may name" code_and_word 2 "nvidia-cuda-nvcc=="
make_host "$work/undriven"
run env ASSAY_HOST_ROOT="$work/undriven" "$door" accept
check "no driver: nothing is downloaded for the card" is "$code$out" "0<accept>"
check "and it is said" has "$err" "no driver is loaded"
run "$door" accept
check "no GPU: the core alone, silently" is "$code$out$err" "0<accept>"

if ((EUID == 0)); then # another user's tree
  chmod -R go-w "$work"
  run as_nobody "$door" list
  check "a tree that cannot be written is used as built" is "$code$out" "0<list>"
  run as_nobody env ASSAY_HOST_ROOT="$work/new" "$door" accept
  check "but not for what it was not built for" code_and_word 2 "setup bench"
fi

echo "$failures failed"
exit "$((failures > 0))"
