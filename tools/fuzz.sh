#!/bin/sh
# Runs a target of tests/fuzz: fuzz.sh BUILD SECONDS TARGET. What it found in
# earlier runs is kept in BUILD/fuzz/TARGET.corpus; seeds are small, since a
# run takes as long as its net is large. NETC in the environment is a program
# that writes some of them. READER=Keras: files of that format alone. Ends with
# 1 if it finds anything.
set -u
build=$1 seconds=$2 target=$3
netc=${NETC:?}
reader=${READER:-}

seed() { # HEAD MOST FILE: a seed of these bytes and the file
  [ "$(wc -c <"$3")" -lt "$2" ] || return 0
  { printf %b "$1"; cat "$3"; } >"$corpus/seed"
  mv "$corpus/seed" "$corpus/seed-$(cksum <"$corpus/seed" | tr ' ' -)"
}

# A net takes a quarter of a second, a large one minutes: a short run begins
# with a sixth of those that have at most 100 layers.
is_short() { # NET
  count=$((count + 1))
  [ $((count % 6)) -eq 0 ] &&
    [ "$("$netc" "$1" --emit=csv 2>/dev/null | wc -l)" -le 100 ]
}

nets() { # HEAD
  count=0
  for net in tests/golden/*/*.net examples/*.net examples/zoo/*.net \
    tests/data/onnx/*.net; do
    case $net in
      *never-ends* | *billion* | *of-nearly-all*) continue ;; # many steps
    esac
    if [ "$seconds" -ge 300 ] || is_short "$net"; then
      seed "$1" 1500 "$net"
    fi
  done
}

# The first byte chooses the reader, in the order of import/kinds.def.
head_of() { # READER
  number=$(grep -o '^READ([^"]*"[^"]*"' import/kinds.def | grep -n "\"$1\"")
  printf '\\0%03o' $((63 + ${number%%:*} + ${2:-0}))
}

import_seed() { # READER MOST FILE: with 32, values are read, too
  [ "${reader:-$1}" = "$1" ] || return 0
  seed "$(head_of "$1")" "$2" "$3"
  seed "$(head_of "$1" 32)" "$2" "$3"
}

import_seeds() {
  for file in tests/data/import/*/* tests/data/import/saved/*/* \
    tests/data/seeds/* tests/data/huggingface/*.json \
    tests/data/huggingface/*/config.json tests/data/huggingface/gguf/*.gguf \
    tests/data/huggingface/gguf/blocks/*.gguf; do
    case $file in
      *.cfg) import_seed Darknet 4000 "$file" ;;
      *.py) import_seed 'PyTorch source' 6000 "$file" ;;
      *.prototxt) import_seed Caffe 6000 "$file" ;;
      *.onnx) import_seed ONNX 8000 "$file" ;;
      *.h5) import_seed 'HDF5 of Keras' 24000 "$file" ;;
      *.tflite) import_seed 'TensorFlow Lite' 12000 "$file" ;;
      *.keras) import_seed 'an archive of Keras' 24000 "$file" ;;
      *.xml) import_seed OpenVINO 24000 "$file" ;;
      *.yaml) import_seed YOLO 8000 "$file" ;;
      *.param) import_seed ncnn 24000 "$file" ;;
      *.gguf) import_seed GGUF 24000 "$file" ;;
      */huggingface/*) import_seed 'Hugging Face' 4000 "$file" ;;
      *.json)
        import_seed TensorFlow.js 14000 "$file"
        import_seed Keras 14000 "$file"
        ;;
    esac
  done
  [ "${reader:-ONNX}" = ONNX ] || return 0
  # What netc itself writes, and Debian's libonnx-testdata if it is here.
  for net in tests/data/onnx/*.net tests/golden/*/*.net; do
    if "$netc" "$net" -o "$corpus/x.onnx" 2>/dev/null; then
      seed "$(head_of ONNX)" 8000 "$corpus/x.onnx"
    fi
  done
  rm -f "$corpus/x.onnx"
  find /usr/share/libonnx-testdata -name '*.onnx' -size -8k 2>/dev/null |
    while read -r file; do seed "$(head_of ONNX)" 8000 "$file"; done
}

file_seeds() {
  for file in tests/data/run/*.npy; do seed '\0' 4096 "$file"; done
  find tests/data -name '*.safetensors' -o -path 'tests/data/torch/*' \
    -o -name '*.caffemodel' |
    while read -r file; do seed '\01' 8192 "$file"; done
  find tests/data/planner -name '*.csv' |
    while read -r file; do seed '\02' 4096 "$file"; done
  for file in tests/data/torch/*; do seed '\03' 8192 "$file"; done
  for file in tests/data/torch/*.pkl; do seed '\04' 8192 "$file"; done
}

corpus=$build/fuzz/$target.corpus log=$build/fuzz/$target.log
more="-dict=tests/fuzz/text.dict -max_len=4096"
mkdir -p "$corpus"
case $target in
  import)
    import_seeds
    more="-dict=tests/fuzz/import.dict -max_len=24576"
    ;;
  files)
    file_seeds
    more=-max_len=8192
    ;;
  calls)
    nets '0123456789abcde\0'
    # Checkpoints and a device: the callback of progress stops the load.
    nets '\030\0\005\002\0\0:789abcde\0'
    ;;
  *) nets '' ;;
esac
# shellcheck disable=SC2086
if "$build/fuzz/$target" -max_total_time="$seconds" -timeout=200 \
  -rss_limit_mb=4000 $more -print_final_stats=1 \
  -artifact_prefix="$build/fuzz/$target-" "$corpus" >"$log" 2>&1; then
  echo "fuzz: $target, $seconds s: $(grep -a DONE "$log")"
else
  tail -n 60 "$log"
  echo "fuzz: $target found something; the file is named above"
  exit 1
fi
