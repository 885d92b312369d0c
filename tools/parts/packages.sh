#!/bin/sh
# packages.sh NODE: makes node_modules what package-lock.json says, with NODE's npm or the PATH's;
# asks no registry when it is that already. Refuses with npm's own words on standard error.
set -eu

node=$1
root=$(cd "$(dirname "$0")/../.." && pwd -P)
lock=$root/package-lock.json
# The lock file that node_modules was made from, kept inside so that it goes with it.
stamp=$root/node_modules/.jsonplane-lock.json

# Older than npm's own record means that somebody ran npm by hand since.
if [ "$stamp" -nt "$root/node_modules/.package-lock.json" ] && cmp -s "$lock" "$stamp"; then exit 0; fi

if "$node" "$root/tools/parts/packages-current.ts" "$root" 2>/dev/null; then
  cp "$lock" "$stamp"
  exit 0
fi

npm=$(dirname "$node")/npm
[ -x "$npm" ] || npm=$(command -v npm) || {
  echo "jsonplane: npm is missing, which installs the packages of package-lock.json; it comes with Node (https://nodejs.org)" >&2
  exit 1
}
# Two commands that are started at once install one after the other: the second finds everything
# there.
if [ "${2:-}" != locked ] && command -v flock >/dev/null; then exec flock "$lock" sh "$0" "$node" locked; fi
echo "jsonplane: installing npm packages (once)" >&2
PATH=$(dirname "$node"):$PATH
# A company's proxy signs with a certificate that only the system's store knows; the machine's own
# Node may have read it.
NODE_USE_SYSTEM_CA=${NODE_USE_SYSTEM_CA:-1}
npm_config_update_notifier=false
export PATH NODE_USE_SYSTEM_CA npm_config_update_notifier
cd "$root"
"$npm" ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error >&2 || {
  echo "jsonplane: npm ci failed in $root (its words are above)" >&2
  exit 1
}
cp "$lock" "$stamp"
