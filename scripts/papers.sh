#!/usr/bin/env bash
# The plots of the papers, as data (CSV) and pictures (PNG) in out/papers: make papers.
#   Otaduy09, figure 6 left:  time a step against contacts, CA and ICA, without friction
#   Otaduy09, figure 6 right: the same for three resolutions of the letters, ICA
#   Otaduy09, section 6:      histogram of the rounds of constraint manifold refinement
#   Heidelberger04, section 4: time of the depth of a colliding point
#   Spillmann07, figure 6:     time of the contact forces against contacts, with a line through the points
#   Spillmann07, section 4:    time of a pass of the chained tori
#   Jung, table 1:             time of collision handling, and figure 10: the same over time, hollow statue
#   Provot97, figures 4 and 5: computing time of the shirt, the trousers and the ribbon
#   Otaduy09, figure 1:        computing time of the dress, and its rounds of refinement
# The letters fall and settle for END seconds (6 s by default: END=40 make papers runs all of it). Runs that exist are
# taken up again. `scripts/papers.sh jung spillmann07` makes these parts only.
set -euo pipefail
cd "$(dirname "$0")/.."
end=${END:-6}
out=out/papers
mkdir -p $out

run() { # NAME, then overrides
    local name=$1 options=()
    shift
    for override in "$@"; do options+=(--set "$override"); done
    build/pliant run scenes/letters.yaml -o "$out/$name" --resume --end "$end s" --no-report "${options[@]}"
}
cells() { # N: the letters' lattices at another resolution
    sed "s/cells: 5/cells: $1/" scenes/letters.yaml > "$out/letters-$1.yaml"
}
column() { head -n 1 "$1" | tr , '\n' | grep -n -x "$2" | cut -d: -f1; }

# Averages over windows of 600 ms, as in the paper: contacts, seconds a step.
windows() { # RUN
    local stats=$out/$1/stats.csv
    awk -F, -v s="$(column "$stats" seconds)" -v a="$(column "$stats" contacts_vertex_face)" '
        NR > 1 { contacts += $a + $(a + 1) + $(a + 2); seconds += $s; if (++n == 20) {
            if (contacts > 0) printf "%.0f,%.6f\n", contacts / n, seconds / n
            n = contacts = seconds = 0 } }' "$stats" | sort -n
}
plot() { # PICTURE, TITLE, XLABEL, YLABEL, then gnuplot's plot arguments
    gnuplot -e "set terminal pngcairo size 900,600 font 'DejaVu Sans,12'; set output '$out/$1'; set title '$2';
        set xlabel '$3'; set ylabel '$4'; set datafile separator ','; set key ${KEY:-left bottom}; set yrange [0:*]; set grid;
        plot $5"
}

otaduy09() {
    run ica contact.friction=0
    run ca contact.friction=0 contact.solver=anticipation contact.max-iterations=1000
    for solver in ica ca; do
        { echo contacts,seconds; windows $solver; } > $out/figure6-left-$solver.csv
    done
    plot figure6-left.png 'Letters without friction: a step of 30 ms' contacts 'seconds a step' \
        "'$out/figure6-left-ca.csv' using 1:2 every ::1 with linespoints title 'CA', \
         '$out/figure6-left-ica.csv' using 1:2 every ::1 with linespoints title 'ICA'"

    arguments=
    for n in 4 5 6; do
        cells $n
        build/pliant run "$out/letters-$n.yaml" -o "$out/cells-$n" --resume --end "$end s" --no-report
        nodes=$(build/pliant check "$out/letters-$n.yaml" | awk '$2 == "solid" { sum += $5 } END { print sum }')
        { echo contacts,seconds; windows cells-$n; } > $out/figure6-right-$n.csv
        arguments+="${arguments:+, }'$out/figure6-right-$n.csv' using 1:2 every ::1 with linespoints title '$nodes nodes'"
    done
    plot figure6-right.png 'Letters with friction, three resolutions: a step of 30 ms' contacts 'seconds a step' "$arguments"

    stats=$out/cells-5/stats.csv
    awk -F, -v c="$(column "$stats" max_rounds)" 'NR > 1 { ++n[$c]; ++total; if ($c <= 3) ++within }
        END { print "rounds,steps"; for (r = 1; r <= 5; ++r) print r "," n[r] + 0
              printf "%.1f %% of %d steps within 3 rounds\n", 100 * within / total, total > "/dev/stderr" }' \
        "$stats" > $out/refinement-rounds.csv
    plot refinement-rounds.png 'Rounds of constraint manifold refinement' rounds steps \
        "'$out/refinement-rounds.csv' using 1:2 every ::1 with boxes fill solid 0.5 notitle"
}

# Mean over the steps from a time on of a sum of columns [ms a sub-step].
mean_ms() { # STATS, FROM [s], then columns
    local stats=$1 from=$2 columns=
    shift 2
    for name in "$@"; do columns+="$(column "$stats" "$name") "; done
    awk -F, -v from="$from" -v columns="$columns" -v t="$(column "$stats" time)" -v s="$(column "$stats" substeps)" '
        NR > 1 && $t >= from { n = split(columns, c, " "); for (i = 1; i <= n; ++i) ms += 1000 * $c[i]; substeps += $s }
        END { printf "%.3f", ms / substeps }' "$stats"
}

heidelberger04() {
    build/pliant run scenes/spheres-120.yaml -o $out/spheres --resume --no-report
    local stats=$out/spheres/stats.csv
    awk -F, -v d="$(column "$stats" s:depth)" -v c="$(column "$stats" contacts)" -v n="$(column "$stats" substeps)" '
        NR > 1 { us += 1e6 * $d / $n; points += $c }
        END { printf "Heidelberger04: depth of a colliding point in spheres-120 %.2f us (35 us on a Pentium 4 of 3 GHz)\n",
              us / points }' "$stats"
}

spillmann07() {
    # One point every 20 ms: contacts, milliseconds of forces a sub-step. CHESS seconds are simulated (1 by default).
    build/pliant run scenes/chessmen-500.yaml -o $out/chessmen --resume --end "${CHESS:-1} s" --no-report
    stats=$out/chessmen/stats.csv
    { echo contacts,milliseconds
      awk -F, -v c="$(column "$stats" contacts)" -v s="$(column "$stats" s:respond)" -v n="$(column "$stats" substeps)" '
        NR > 1 { contacts += $c; x = 1000 * $s / $n # sorted, for the median: other programs may have been in the way
            for (i = k++; i > 0 && ms[i - 1] > x; --i) ms[i] = ms[i - 1]
            ms[i] = x
            if (k == 40) { if (contacts > 0) printf "%.0f,%.6f\n", contacts / k, (ms[19] + ms[20]) / 2; k = contacts = 0 } }' \
        "$stats"; } > $out/spillmann07-figure6.csv
    local line a b r
    line=$(awk -F, 'NR > 1 { ++n; x += $1; y += $2; xx += $1 * $1; xy += $1 * $2; yy += $2 * $2 }
        END { b = (n * xy - x * y) / (n * xx - x * x); a = (y - b * x) / n
              r = (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y))
              printf "%.6f %.9f %.4f", a, b, r }' $out/spillmann07-figure6.csv)
    read -r a b r <<< "$line"
    awk -v a="$a" -v b="$b" -v r="$r" 'BEGIN {
        printf "Spillmann07, figure 6: forces of chessmen-500 %.4f ms + %.3f us a contact, correlation %.4f\n", a, 1000 * b, r
        printf "with 2500 contacts %.3f ms (41 ms on a Xeon of 3.8 GHz)\n", a + 2500 * b }'
    KEY='left top' plot spillmann07-figure6.png '500 chess figures: contact forces of a sub-step' contacts milliseconds \
        "'$out/spillmann07-figure6.csv' using 1:2 every ::1 with points pointtype 7 title 'measured', \
         $a + $b * x with lines title sprintf('%.3f ms + %.3f us a contact, correlation $r', $a, 1000 * $b)"
    build/pliant run scenes/tori-200.yaml -o $out/tori --resume --end "${TORI:-0.5} s" --no-report
    stats=$out/tori/stats.csv
    printf 'a pass of tori-200: %s ms, of which detection %s and forces %s (470 and 41 ms in Spillmann07)\n' \
        "$(mean_ms "$stats" 0.25 s:detect s:depth s:respond s:integrate)" "$(mean_ms "$stats" 0.25 s:detect s:depth)" \
        "$(mean_ms "$stats" 0.25 s:respond)"
}

# Table 1: the second half of SECONDS of each scene. The letters are the longest: JUNG seconds of them (8 by default).
jung() {
    local stages="s:boxes s:hash s:overlaps s:respond" table=$out/jung-table1.csv name seconds paper stats
    echo "scene,triangles,cells,milliseconds,paper" > $table
    while read -r name seconds paper; do
        build/pliant run scenes/$name.yaml -o "$out/$name" --resume --end "$seconds s" --no-report
        stats=$out/$name/stats.csv
        build/pliant check scenes/$name.yaml | awk -v name="$name" -v paper="$paper" -v ms="$(
            mean_ms "$stats" "$(awk -v s="$seconds" 'BEGIN { print s / 2 }')" $stages)" '
            $2 == "lattice" { triangles += $4 }
            /^[0-9]+ lattice/ { cells = $4 }
            END { print name "," triangles "," cells "," ms "," paper }' >> $table
    done <<< "teapots 2 1.7
letters-1014 ${JUNG:-8} 279
hollow-statue 3 0.3
animals-soft 3 0.5"
    echo "Jung, table 1 [ms a sub-step; the paper's of a Pentium D of 3 GHz, its last line for five rabbits of 6900 cells]:"
    tr , '\t' < $table

    stats=$out/hollow-statue/stats.csv
    { echo time,milliseconds
      awk -F, -v t="$(column "$stats" time)" -v b="$(column "$stats" s:boxes)" -v h="$(column "$stats" s:hash)" \
          -v o="$(column "$stats" s:overlaps)" -v r="$(column "$stats" s:respond)" -v n="$(column "$stats" substeps)" '
          NR > 1 { printf "%s,%.4f\n", $t, 1000 * ($b + $h + $o + $r) / $n }' "$stats"; } > $out/jung-figure10.csv
    plot jung-figure10.png 'Hollow statue: collision handling of a sub-step' 'seconds' milliseconds \
        "'$out/jung-figure10.csv' using 1:2 every ::1 with lines notitle"
}

# The scenes in full, with impact-zones.
provot97() {
    local name paper stats table=$out/provot97.csv
    echo "scene,simulated,computed,detection,paper" > $table
    while read -r name paper; do
        build/pliant run scenes/$name.yaml -o "$out/$name" --resume --no-report
        stats=$out/$name/stats.csv
        awk -F, -v name="$name" -v paper="$paper" -v s="$(column "$stats" seconds)" -v t="$(column "$stats" time)" \
            -v d="$(column "$stats" s:ccd)" '
            NR > 1 { seconds += $s; detection += $d; time = $t }
            END { printf "%s,%.1f,%.0f,%.0f,%s\n", name, time, seconds, detection, paper }' "$stats" >> $table
    done <<< "ribbon 3600
shirt 6300
trousers 6300"
    echo "Provot97 [s; the paper's of an Alpha of 500 MHz, shirt and trousers 1.5 to 2 hours]:"
    tr , '\t' < $table
}

# DRESS seconds of it (2 by default, up to the end of the first kick: DRESS=10 make papers runs all of it).
dress() {
    build/pliant run scenes/dress.yaml -o $out/dress --resume --end "${DRESS:-2} s" --no-report
    local stats=$out/dress/stats.csv
    awk -F, -v s="$(column "$stats" seconds)" -v r="$(column "$stats" max_rounds)" '
        NR > 1 { seconds += $s; ++n; within += $r <= 3 }
        END { printf "Otaduy09, figure 1: dress %.0f ms a step, %.1f minutes for all 5000 steps (15 hours), ",
                     1000 * seconds / n, 5000 * seconds / n / 60
              printf "%.1f %% of %d steps within 3 rounds (more than 90 %%)\n", 100 * within / n, n }' "$stats"
}

every=(otaduy09 dress heidelberger04 spillmann07 jung provot97)
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${every[@]}")
for part in "${parts[@]}"; do
    [[ " ${every[*]} " == *" $part "* ]] || { echo "no part '$part'; there are ${every[*]}" >&2; exit 2; }
    "$part"
done
echo "plots and data: $out"
