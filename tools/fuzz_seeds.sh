#!/bin/sh
# Seeds of `make fuzz-import`: fuzz_seeds.sh NETC FOLDER [READER]. Small files
# of each format, or of one, with the byte that chooses the reader before them.
# A run takes as long as its net is large, so large models give few runs; the
# small ones have every operator, too.
set -eu
netc=$1 folder=$2 reader=${3:-}
mkdir -p "$folder"

seed() { # READER BYTE MOST FILE
  [ "${reader:-$1}" = "$1" ] && [ "$(wc -c <"$4")" -lt "$3" ] || return 0
  { printf '%s' "$2"; cat "$4"; } >"$folder/seed-$(cksum <"$4" | tr ' ' -)"
}

for file in tests/data/import/*/* tests/data/seeds/*; do
  case $file in
    *.cfg) seed Darknet @ 4000 "$file" ;;
    *.prototxt) seed Caffe A 6000 "$file" ;;
    *.onnx) seed ONNX B 8000 "$file" ;;
    *.json) seed Keras C 14000 "$file" ;;
  esac
done
[ "${reader:-ONNX}" = ONNX ] || exit 0

# What netc itself writes as ONNX, and Debian's libonnx-testdata if it is here.
for net in tests/data/onnx/*.net tests/golden/*/*.net; do
  if "$netc" "$net" -o "$folder/x.onnx" 2>/dev/null; then
    seed ONNX B 8000 "$folder/x.onnx"
  fi
done
rm -f "$folder/x.onnx"
find /usr/share/libonnx-testdata -name '*.onnx' -size -8k 2>/dev/null |
  while read -r file; do seed ONNX B 8000 "$file"; done
