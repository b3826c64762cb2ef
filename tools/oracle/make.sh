#!/bin/sh
# Makes a folder with Debian 13 and its PyTorch, torchvision and onnxruntime:
# make.sh ROOT. A ROOT that is complete is left as it is. apt's configuration is
# this machine's. Needs root and mmdebstrap.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$1
packages=python3-torch,python3-torchvision,python3-onnxruntime,python3-onnx
packages=$packages,python3-numpy,python3-safetensors,g++,libtorch-dev
packages=$packages,python3-setuptools
# What a folder of another list of packages, or another guard, is not.
stamp=$({ echo "$packages"; cat "$here/fake_cuda.cpp"; } | sha256sum)
[ "$(cat "$root/opt/oracle/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

if ! command -v mmdebstrap >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "oracle: needs root, and apt-get install mmdebstrap" >&2
  exit 1
fi
rm -rf --one-file-system "$root"
mkdir -p "$root"
sources=/etc/apt/sources.list.d/debian.sources
[ -e $sources ] || sources=/etc/apt/sources.list
trixie=$(mktemp -d)
trap 'rm -rf "$trixie"' EXIT
sed "s/bookworm/trixie/g" $sources >"$trixie/${sources##*/}"
set --
for file in /etc/apt/apt.conf.d/*; do
  ! grep -q Acquire "$file" || set -- "$@" "--aptopt=$file"
done
mmdebstrap --quiet --mode=root --variant=minbase "$@" --include="$packages" \
  --aptopt='Acquire::Languages "none"' \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  trixie "$root" "$trixie/${sources##*/}"

mkdir -p "$root/opt/oracle"
cp "$here/fake_cuda.cpp" "$root/opt/oracle"
torch=/usr/lib/python3/dist-packages/torch
chroot "$root" g++ -O1 -std=c++17 -shared -fPIC -o /opt/oracle/fake_cuda.so \
  -I$torch/include -I/usr/include /opt/oracle/fake_cuda.cpp -lc10
echo "$stamp" >"$root/opt/oracle/stamp"
