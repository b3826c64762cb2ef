#!/bin/sh
# Nets of the zoo that take longest: for a report, for the choice of
# checkpoints, for cuts into 8 stages. Seconds of the processor.
# usage: bench/zoo.sh NETC
set -eu
[ -x /usr/bin/time ] || { echo "bench/zoo.sh: apt-get install time"; exit 1; }
netc=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The least of three runs, in hundredths: more would be noise. Nets for which
# an option makes no sense have none.
slowest() {
  what=$1
  shift
  for net in examples/*.net examples/zoo/*.net; do
    for _ in 1 2 3; do
      /usr/bin/time -o "$work/time" -f '%e %U %S' "$netc" "$net" "$@" \
        >/dev/null 2>&1 || continue 2
      awk -v net="$net" '{ print $2 + $3, net }' "$work/time"
    done | sort -n | head -1
  done | sort -rn >"$work/all"
  awk -v what="$what" 'NR == 1 { most = $1; name = $2 } { sum += $1 }
    END { printf "%-24s %3d nets %7.2f s together, most %5.2f s: %s\n", what,
                 NR, sum, most, name }' "$work/all"
}

slowest report
slowest "checkpoint auto" --checkpoint auto --gpu a100-80
slowest "pipeline 8" --pipeline 8 --gpu a100-80
