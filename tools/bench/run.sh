#!/bin/sh
# Speed as ratios against a reference in the same run: tools/bench/README.md.
# usage: tools/bench/run.sh NETC REFERENCE
set -eu
netc=$1
reference=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The least wall time of five runs, in milliseconds.
least() {
  best=
  for _ in 1 2 3 4 5; do
    start=$(date +%s%N)
    "$@" >/dev/null 2>&1 || true
    end=$(date +%s%N)
    took=$(( (end - start) / 1000 ))
    [ -n "$best" ] && [ "$best" -le "$took" ] || best=$took
  done
  echo "$best"
}

row() { printf '%-46s %10.2f ms  %7.2f x %s\n' "$1" \
  "$(echo "$2" | awk '{print $1 / 1000}')" \
  "$(echo "$2 $3" | awk '{print $1 / $2}')" "$4"; }

start=$(least true)
row "process start (true)" "$start" "$start" "itself"
for net in simple_cnn vgg16 resnet50; do
  row "$net, report" "$(least "$netc" "examples/$net.net")" "$start" \
    "process start"
done

for layers in 100000 1000000; do
  printf 'input 32x32x64\nrepeat %d { conv 64 3x3 pad }\n' $layers \
    >"$work/m.net"
  theirs=$(least "$reference" $layers)
  row "$layers layers as JSON, jansson (objects only)" "$theirs" "$theirs" \
    "itself"
  row "$layers layers to JSON, whole compilation" \
    "$(least "$netc" "$work/m.net" --emit=json)" "$theirs" "jansson"
done

if command -v valgrind >/dev/null; then
  for net in simple_cnn vgg16 resnet50; do
    count=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
      "$netc" "examples/$net.net" 2>&1 >/dev/null |
      awk '/Collected/ { print $4 }')
    printf '%-46s %12d instructions\n' "$net, report" "$count"
  done
fi
