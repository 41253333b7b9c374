#!/usr/bin/env bash
# Makes the pictures of the README: make pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
build/pliant run scenes/unified.yaml -o out/unified --force --no-report
build/pliant render out/unified -o docs/images/unified.png --sheet 3x1 --size 1500x340 --subdivide
build/pliant run scenes/letters.yaml -o out/letters-picture --force --no-report --end 3
build/pliant render out/letters-picture -o docs/images/letters.png --size 1280x560 --samples 24 \
    --camera 0.7 1.1 2.1 0 0.12 0.05
