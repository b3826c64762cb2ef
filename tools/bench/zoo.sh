#!/bin/sh
# Nets of the zoo that take longest: for a report, for the choice of
# checkpoints, for cuts into 8 stages.
# usage: tools/bench/zoo.sh NETC
set -eu
netc=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Milliseconds of each net: slowest WHAT RUNS OPTIONS; the least of the runs.
slowest() {
  what=$1 runs=$2
  shift 2
  for net in examples/*.net examples/zoo/*.net; do
    for _ in $(seq "$runs"); do
      start=$(date +%s%N)
      "$netc" "$net" "$@" >/dev/null 2>&1 || true
      echo "$(( ($(date +%s%N) - start) / 1000 )) $net"
    done | sort -n | head -1
  done | sort -rn >"$work/all"
  awk -v what="$what" 'NR == 1 { most = $1; name = $2 } { sum += $1 }
    END { printf "%-24s %3d nets %9.1f ms together, most %8.1f ms: %s\n",
                 what, NR, sum / 1000, most / 1000, name }' "$work/all"
}

slowest report 3
slowest "checkpoint auto" 1 --checkpoint auto --gpu a100-80
slowest "pipeline 8" 1 --pipeline 8 --gpu a100-80
