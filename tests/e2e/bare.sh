# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# For bare_root.sh and image.sh: a root folder with nothing but the distribution's minimum, of this
# host's own release, which fetches packages as this host does.

# Where this host gets its distribution from.
host_mirror() {
  cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb (\[[^]]*\] )?([^ ]+) .*/\2/p' | head -n 1
}

make_bare_root() { # FOLDER
  local release
  # shellcheck source=/dev/null
  release=$(source /etc/os-release && echo "$VERSION_CODENAME")
  debootstrap --variant=minbase "$release" "$1" "$(host_mirror)"
  copy_package_settings "$1"
}

# Package sources, keys, proxies and certificates: what an administrator has on every machine, and
# what this repository must not know.
copy_package_settings() { # FOLDER
  local file
  rm -rf "$1/etc/apt"
  for file in /etc/apt /etc/pip.conf /etc/ssl/certs /usr/share/ca-certificates \
    /usr/local/share/ca-certificates /etc/hosts /etc/resolv.conf; do
    [[ -e $file ]] || continue
    mkdir -p "$1${file%/*}"
    rm -rf "${1:?}$file"
    cp -aL "$file" "$1$file"
  done
  # An image's habit of throwing away what was fetched would hide how much that was.
  rm -f "$1"/etc/apt/apt.conf.d/docker-clean
}

# The same settings where they are variables.
package_variables() {
  env | grep -E '^(PIP_|SSL_CERT_|REQUESTS_CA_BUNDLE=|CURL_CA_BUNDLE=|(https?|no|all)_proxy=|(HTTPS?|NO|ALL)_PROXY=)' |
    grep -v '^PIP_FIND_LINKS=' || true
}

# What git has committed, or with ASSAY_WORKTREE=1 what it tracks or would track, as it stands.
copy_project() { # FOLDER
  local project=${BASH_SOURCE[0]%/*}/../..
  if [[ ${ASSAY_WORKTREE-} ]]; then
    mkdir -p "$1"
    (cd "$project" && git ls-files -z -co --exclude-standard |
      while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
      tar --null -T - -cf -) | tar -xf - -C "$1"
  else
    git clone --quiet --no-local "$project" "$1"
  fi
}

need() { # PROGRAM... : the Debian packages have their names
  local program
  ((EUID == 0)) || { echo "needs root" >&2 && exit 77; }
  for program in "$@"; do
    command -v "$program" >/dev/null || { echo "needs $program: apt-get install $program" >&2 && exit 77; }
  done
}
