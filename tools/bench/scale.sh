#!/bin/sh
# Large nets: seconds of the processor and bytes a layer, by what is asked.
# usage: tools/bench/scale.sh NETC [LAYERS]
set -eu
[ -x /usr/bin/time ] ||
  { echo "tools/bench/scale.sh: apt-get install time"; exit 1; }
netc=$1
layers=${2:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

net() { printf 'input 32x32x16\n%s\n' "$2" >"$work/$1.net"; }
net repeat "repeat $layers { conv 16 3x3 pad }"
net residual "repeat $((layers / 6)) {
  add {} { conv 16 3x3 pad relu; conv 16 3x3 pad } relu
}"
printf 'input 64x64\nrepeat %d {\n  add {} { ln; attention 4 }\n%s\n}\n' \
  "$((layers / 8))" "  add {} { ln; linear 256 gelu; linear 64 }" \
  >"$work/transformer.net"
net concats "repeat $((layers / 100)) { concat {} { conv 1 3x3 pad } }"
{ echo "input 32x32x16"; yes "conv 16 3x3 pad" | head -n "$layers"; } \
  >"$work/written.net"
lines() { # "$1" with the number of each line
  { echo "input 32x32x16"; seq -f "$1" "$layers"; } >"$2"
}
lines "l%.0f: conv 16 3x3 pad" "$work/labelled.net"
lines "conv 16 3x3 pad leaky(0.%07.0f)" "$work/different.net"

# Seconds of user and system, and the most memory.
measure() {
  what=$1
  shift
  /usr/bin/time -o "$work/time" -f '%U %S %M' "$@" >/dev/null 2>&1
  count=$("$netc" --dump graph "$work/${what%% *}.net" 2>/dev/null | wc -l)
  awk -v what="$what" -v count="$count" '{
    printf "%-24s %9d layers %7.2f s %7.2f s %7d B a layer\n", what, count,
           $1, $2, $3 * 1024 / count }' "$work/time"
}

printf '%-24s %16s %9s %9s\n' "" "" user system
for name in repeat written labelled different residual transformer concats; do
  measure "$name json" "$netc" "$work/$name.net" --emit=json=/dev/null
  measure "$name check" "$netc" check "$work/$name.net"
done
