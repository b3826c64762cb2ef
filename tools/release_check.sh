#!/bin/sh
# release_check.sh NAME TARBALL BUILD: see dist.mk.
set -eu
name=$1
tarball=$2
build=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -xzf "$tarball" -C "$folder"
mkdir "$folder/bin"
for tool in flex bison protoc-c scdoc; do # as if they were not there
  printf '#!/bin/sh\necho "%s was called" >&2\nexit 1\n' $tool \
    >"$folder/bin/$tool"
  chmod +x "$folder/bin/$tool"
done
(cd "$folder/$name" && env -u MAKEFLAGS -u MAKELEVEL PATH="$folder/bin:$PATH" \
  make -s -j2 all static build/netc.1 >/dev/null)
for product in netc static/netc libnetc.a libnetc.so.0; do
  cmp "$folder/$name/build/$product" "$build/$product"
done
echo "release: equal bytes"
# The static program, where there is nothing else: it reads, draws and imports.
mkdir -p "$folder/empty/tmp"
cp "$build/static/netc" tests/data/import/caffe/cifar10_quick.prototxt \
  "$folder/empty"
printf 'input 4\nfc 2\n' | chroot "$folder/empty" /netc --dump=shapes - |
  grep -q 'fc1 2'
chroot "$folder/empty" /netc import /cifar10_quick.prototxt \
  -o /tmp/x.net
chroot "$folder/empty" /netc /tmp/x.net -o /tmp/x.svg -o /tmp/x.onnx \
  -o /tmp/x.html >/dev/null
for made in svg onnx html; do [ -s "$folder/empty/tmp/x.$made" ]; done
echo "static: runs in an empty root"
apt-get install -y -q "$build"/*.deb >/dev/null
printf 'input 4\nfc 2\n' | netc --dump=shapes - | grep -q 'fc1 2'
printf '#include <netc.h>\nint main(void) { netc_close(netc_open(0, 0)); }\n' \
  >"$folder/p.c"
# shellcheck disable=SC2046
cc "$folder/p.c" $(pkg-config --cflags --libs netc) -o "$folder/p"
"$folder/p"
man -w netc >/dev/null
/usr/bin/python3 -c 'import netc; assert netc.load("zoo:lenet5").param_count'
apt-get remove -y -q netc libnetc0 libnetc-dev python3-netc >/dev/null
[ ! -e /usr/bin/netc ]
echo "packages: installed, ran, removed"
