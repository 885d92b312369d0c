#!/bin/sh
# with-node.sh COMMAND…: runs a command with Node 24 or newer and this repository's packages first
# on the PATH, and brings both when they are missing. Make and the npm scripts go through it, so
# that they work under any Node that npm itself runs on.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
node=$(sh "$root/tools/parts/node.sh")
sh "$root/tools/parts/packages.sh" "$node"
case $node in
*/node) ;;
*)
  echo "jsonplane: programs under node_modules look for a program called node; JSONPLANE_NODE is $node" >&2
  exit 1
  ;;
esac
PATH=$root/node_modules/.bin:$(dirname "$node"):$PATH
# What calls npm below this goes through the same proxies as packages.sh.
NODE_USE_SYSTEM_CA=${NODE_USE_SYSTEM_CA:-1}
npm_config_update_notifier=false
export PATH NODE_USE_SYSTEM_CA npm_config_update_notifier
exec "$@"
