#!/usr/bin/env bash
# Installs the library into a fresh prefix, then builds and runs a consumer that knows nothing but that prefix.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cp -r "$here" "$work/consumer"
cmake -S "$work/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/consumer"
if [ -x "$work/prefix/bin/pliant" ]; then
    "$work/prefix/bin/pliant" scenes >"$work/scenes" # a pipe would break at the first match
    grep -q hello.yaml "$work/scenes"
fi
