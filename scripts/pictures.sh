#!/usr/bin/env bash
# Makes the pictures of the README: make pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
build/pliant run scenes/unified.yaml -o out/unified --force --no-report
build/pliant render out/unified -o docs/images/unified.png --sheet 3x1 --size 1500x340 --subdivide
