#!/bin/sh
# The library for other platforms: portable.sh GENERATED NATIVE SOURCES...
# compiles it for musl, for 32 bits and for WebAssembly without files or setjmp,
# and compares the reports of some nets with those of the program NATIVE, byte
# by byte. A platform
# whose compiler is absent is named, and is a failure under CI. WebAssembly's
# stack of 64 KiB comes first in memory: what outgrows it stops, and does not
# write over data in silence.
set -eu
gen=$1
native=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
include="-I. -Iinclude -I$gen"
missing=0
built=" native"
compilers=""

# build NAME TOOL PACKAGES COMMAND...
build() {
  name=$1 tool=$2 packages=$3
  shift 3
  if ! "$@" -x c -c /dev/null -o "$folder/try.o" 2>/dev/null ||
    ! echo '#include <stdio.h>' | "$@" -x c -E - >/dev/null 2>&1; then
    echo "portable: no $tool: apt-get install $packages" >&2
    missing=1
    return
  fi
  # shellcheck disable=SC2086
  "$@" -O1 $include -o "$folder/$name" $sources tests/portable.c -lm &
  compilers="$compilers $!"
  built="$built $name"
}

sources=$*
cat >"$folder/run.mjs" <<'EOT'
import { WASI } from 'node:wasi'
import { readFileSync } from 'node:fs'
process.removeAllListeners('warning')
// Node 18 has this, too.
const wasi = new WASI({ version: 'preview1', returnOnExit: true,
  args: process.argv.slice(2) })
const bytes = readFileSync(process.argv[2])
const { instance } = await WebAssembly.instantiate(bytes,
  { wasi_snapshot_preview1: wasi.wasiImport })
process.exitCode = wasi.start(instance)
EOT
run() {
  case $1 in
    wasm) node --no-warnings "$folder/run.mjs" "$folder/wasm" "$2" ;;
    native) "$native" "$2" ;;
    *) "$folder/$1" "$2" ;;
  esac
}

build musl musl-gcc musl-tools musl-gcc -static
build bits32 'gcc -m32' gcc-multilib cc -m32
if command -v node >/dev/null; then
  build wasm 'clang for wasm32-wasi' \
    'clang lld wasi-libc libclang-rt-14-dev-wasm32' \
    clang --target=wasm32-wasi --sysroot=/usr -DNETC_NO_SETJMP \
    -DNETC_NO_FILES -Wl,--stack-first
else
  echo "portable: no node: apt-get install nodejs" >&2
  missing=1
fi
for compiler in $compilers; do
  wait "$compiler"
done
for net in examples/simple_cnn.net examples/zoo/resnet.net \
    examples/zoo/gpt2.net examples/zoo/unet.net \
    tests/golden/errors/several-errors-of-syntax-in-one-run.net; do
  for kind in json txt dot timeline.svg arena.svg bars.svg roofline.svg \
      volumes.svg tex mmd; do
    for name in $built; do
      status=0
      run "$name" $kind <"$net" >"$folder/$name.out" 2>"$folder/err" ||
        status=$?
      [ "$name" != native ] || expected=$status
      if [ -s "$folder/err" ] || [ $status != "$expected" ]; then
        cat "$folder/err" >&2
        echo "portable: $name ends with $status in the $kind of $net" >&2
        exit 1
      fi
      cmp "$folder/native.out" "$folder/$name.out" ||
        { echo "portable: $name differs in the $kind of $net" >&2; exit 1; }
    done
    [ -s "$folder/native.out" ] ||
      { echo "portable: nothing said" >&2; exit 1; }
  done
done
echo "portable: equal bytes from$built"
[ -z "${CI:-}" ] || [ $missing = 0 ]
