#!/usr/bin/env bash
# Makes the pictures of the README and the docs: make pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
build/pliant run scenes/unified.yaml -o out/unified --force --no-report
build/pliant render out/unified -o docs/images/unified.png --sheet 3x1 --size 1500x340 --subdivide
build/pliant run scenes/letters.yaml -o out/letters-picture --force --no-report --end 3
build/pliant render out/letters-picture -o docs/images/letters.png --size 1280x560 --samples 24 \
    --camera 0.7 1.1 2.1 0 0.12 0.05
build/pliant run scenes/elastic-arch.yaml -o out/elastic-arch --force --no-report
build/pliant render out/elastic-arch -o docs/images/elastic-arch.png --sheet 3x1 --size 1500x340 \
    --camera 0.55 0.5 1.0 0 0.2 0
build/pliant run scenes/tori-200.yaml -o out/tori-200 --force --no-report
build/pliant render out/tori-200 -o docs/images/tori-200.png --frame 190 --size 1000x560
build/pliant run scenes/hollow-statue.yaml -o out/hollow-statue --force --no-report
build/pliant render out/hollow-statue -o docs/images/hollow-statue.png --sheet 3x1 --size 1200x500
build/pliant run scenes/animals-soft.yaml -o out/animals-soft --force --no-report --end 2.04
build/pliant render out/animals-soft -o docs/images/animals-soft.png --sheet 3x1 --size 1500x420
build/pliant run scenes/ribbon.yaml -o out/ribbon --force --no-report
build/pliant render out/ribbon -o docs/images/ribbon.png --size 960x540 --samples 32 --subdivide \
    --camera 0.36 0.4 0.62 0.02 0.02 0.04
build/pliant run scenes/shirt.yaml -o out/shirt --force --no-report
build/pliant render out/shirt -o docs/images/shirt.png --sheet 3x1 --size 1500x560 --samples 16 --label
build/pliant run scenes/trousers.yaml -o out/trousers --force --no-report
build/pliant render out/trousers -o docs/images/trousers.png --sheet 3x1 --size 1500x560 --samples 16 --label
build/pliant run scenes/outfit.yaml -o out/outfit --force --no-report
build/pliant render out/outfit -o docs/images/outfit.png --sheet 3x1 --size 1500x640 --samples 16 --label \
    --camera 1.5 1.25 2.7 0 0.83 0
build/pliant run scenes/dress.yaml -o out/dress --force --no-report
build/pliant render out/dress -o docs/images/dress-kick.png --frame 36 --size 800x800 --samples 32 --subdivide \
    --camera 1.6 1.1 2.4 0 0.85 0
build/pliant render out/dress -o docs/images/dress.png --frame 96 --size 900x800 --samples 32 --subdivide \
    --camera 1.7 0.5 2.5 0 0.87 0
