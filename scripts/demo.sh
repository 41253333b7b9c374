#!/usr/bin/env bash
# What `make demo` shows: every kind of body in one run, and that the number of threads does not change a bit of it.
set -euo pipefail
cd "$(dirname "$0")/.."
pliant=build/pliant

"$pliant" run scenes/hello.yaml -o out/hello --force
one=$("$pliant" run scenes/hello.yaml -o out/hello-1 --force --threads 1 --end 0.5 --quiet)
two=$("$pliant" run scenes/hello.yaml -o out/hello-2 --force --threads 2 --end 0.5 --quiet)
[ "$one" = "$two" ] || { echo "demo: one and two threads disagree: $one, $two" >&2; exit 1; }
echo "one and two threads agree to the last bit ($one after 0.5 s)"
"$pliant" check out/hello
echo "the run is in out/hello: scene.yaml, stats.csv, frames/"
