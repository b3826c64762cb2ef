#!/bin/sh
# check_small.sh BUILD: compares BUILD/netc with two that lack a part. `make
# IMPORT=0` leaves out readers and ONNX: it reports the same, and says what it
# lacks. `make ONNX=0` leaves out ONNX alone.
set -eu
full=$1/netc
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
small=$1/small/import/netc
for net in examples/resnet50.net examples/zoo/gpt2.net; do
  "$full" "$net" --emit=json >"$folder/full.json"
  "$small" "$net" --emit=json >"$folder/small.json"
  cmp "$folder/full.json" "$folder/small.json"
done
# refuses STATUS WORDS COMMAND...: with the words, and nothing written
refuses() {
  wanted=$1 words=$2
  shift 2
  status=0
  "$@" >"$folder/said" 2>&1 || status=$?
  if [ $status != "$wanted" ] || ! grep -q "$words" "$folder/said"; then
    { echo "small: $* gives $status:" && cat "$folder/said"; } >&2
    exit 1
  fi
  [ ! -e "$folder/x.onnx" ] && [ ! -e "$folder/x.net" ]
}
refuses 2 "without .import." "$small" import \
  tests/data/import/darknet/tiny.cfg -o "$folder/x.net"
refuses 2 'without ONNX' "$small" examples/resnet50.net -o "$folder/x.onnx"
small=$1/small/onnx/netc
refuses 2 'without ONNX' "$small" examples/resnet50.net -o "$folder/x.onnx"
refuses 1 'without ONNX' "$small" import tests/data/import/onnx/siamese.onnx \
  -o "$folder/x.net"
vino=tests/data/import/openvino
refuses 1 'without ONNX' "$small" import \
  "$vino/esaiaswt__age-gender-recognition-retail-0013.xml" -o "$folder/x.net"
"$small" import --types >"$folder/types"
# OpenVINO, torch.export and ncnn say their models in ONNX's operators.
"$full" import --types |
  grep -v -e '^ONNX' -e '^OpenVINO' -e '^torch\.export' -e '^ncnn' |
  cmp - "$folder/types"
for file in darknet/yolov3_ab.cfg keras/skip.json \
    caffe/cifar10_quick.prototxt; do
  "$full" import "tests/data/import/$file" >"$folder/full.net"
  "$small" import "tests/data/import/$file" | cmp - "$folder/full.net"
done
echo "small: equal reports; says what is missing"
