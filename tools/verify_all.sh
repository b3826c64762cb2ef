#!/bin/sh
# netc verify over nets with one layer and small ones of the zoo, or those that
# are named: verify_all.sh NETC [NET...]. A line for each; 1 where one differs.
set -u
netc=${1:?"usage: verify_all.sh NETC [NET...]"}
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
# netc takes onnxruntime-node from no folder that is not named.
NODE_PATH=$(cd "$(dirname "$netc")" && pwd)/node_modules:${NODE_PATH:-}
export NODE_PATH
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- \
  $(find tests/golden/layers -name '*.net' ! -name '*.out.net' | sort) \
  tests/data/run/*.net \
  tests/data/onnx/*.net examples/simple_cnn.net \
  "examples/zoo/resnet.net -D depth=18" \
  "examples/zoo/vit.net -D layers=2 -D width=48 -D heads=3" \
  "examples/zoo/gpt2.net -D n_layer=2 -D length=64" \
  "examples/zoo/lstm_lm.net -D width=64" "examples/zoo/gru_lm.net -D width=64" \
  examples/zoo/lenet5.net examples/zoo/mobilenet_v2.net \
  examples/zoo/mobilenet_v3.net examples/zoo/squeezenet.net \
  examples/zoo/shufflenet_v2.net examples/zoo/efficientnet.net \
  examples/zoo/googlenet.net examples/zoo/densenet.net examples/zoo/m5.net \
  examples/zoo/mlp.net examples/zoo/dcgan_g.net
for net in "$@"; do
  # shellcheck disable=SC2086
  $netc verify $net >"$log" 2>&1
  status=$?
  worst=$(awk '/^(runtime|x\.)/ && NF >= 4 && $3 ~ /^[0-9.]+(e|$)/ {
    if ($4 + 0 > most) most = $4 + 0 } END { print most + 0 }' "$log")
  skipped=$(sed -n 's/^\(x[^ ]*\) *skipped: .*/\1/p' "$log" | tr '\n' ' ')
  echo "$status $worst $net ${skipped:+without $skipped}"
  if [ $status -ne 0 ]; then
    tail -n 12 "$log"
    grep -q "can measure this net, but not run it" "$log" || failed=1
  fi
done
exit $failed
