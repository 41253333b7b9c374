#!/usr/bin/env bash
# What `make demo` shows: a sheet that falls into folds, certified and drawn, and that the number of threads does not
# change a bit of a run.
set -euo pipefail
cd "$(dirname "$0")/.."
pliant=build/pliant

"$pliant" run scenes/falling-cloth.yaml -o out/demo --force --set "bodies.sheet.mesh.grid.vertices=[30, 30]" \
    --set expect.contacts=100 --set contact.tolerance=1e-3
"$pliant" check out/demo
"$pliant" render out/demo -o out/demo.png --sheet 3x2 --size 1440x810 --subdivide --samples 16 > /dev/null
one=$("$pliant" run scenes/hello.yaml -o out/hello-1 --force --threads 1 --end 0.5 --quiet --no-report)
two=$("$pliant" run scenes/hello.yaml -o out/hello-2 --force --threads 2 --end 0.5 --quiet --no-report)
[ "$one" = "$two" ] || { echo "demo: one and two threads disagree: $one, $two" >&2; exit 1; }
echo "one and two threads agree to the last bit ($one after 0.5 s of scenes/hello.yaml)"
echo "picture: out/demo.png"
echo "report:  out/demo/report.html"
