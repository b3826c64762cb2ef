#!/bin/sh
# Four packages with dpkg-deb: deb.sh VERSION SONAME BUILD. The program, the
# shared library, what one needs to compile against it, and Python's.
set -eu
version=$1
soname=$2
build=$3
architecture=$(dpkg --print-architecture)
multiarch=$(cc -print-multiarch)
library=libnetc${soname##*.so.}
maintainer='netc maintainers <maintainers@users.noreply.github.com>'
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null ||
  echo 0)}
export SOURCE_DATE_EPOCH
stage=$build/deb
rm -rf "$stage"

# finish PACKAGE DEPENDS SUMMARY SECTION FURTHER-FIELDS
finish() {
  root=$stage/$1
  mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$1"
  cp LICENSE "$root/usr/share/doc/$1/copyright"
  (cd "$root" && find usr -type f -print0 | sort -z |
    xargs -0 md5sum >DEBIAN/md5sums)
  cat >"$root/DEBIAN/control" <<EOT
Package: $1
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: $4
Priority: optional
Depends: $2
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: $3
 netc reads a description of a neural network, infers every shape, and reports
 parameters, multiply-accumulates and the memory of training and prediction.
EOT
  [ -z "$5" ] || sed -i "/^Depends/a $5" "$root/DEBIAN/control"
  chmod -R u+rwX,go+rX,go-w "$root"
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group --build "$root" \
    "$build/$1_${version}_$architecture.deb"
}

install_part() { # TARGET PACKAGE
  make -s "$1" build="$build" DESTDIR="$stage/$2" PREFIX=/usr \
    libdir="/usr/lib/$multiarch" docdir="/usr/share/doc/$2" >/dev/null
}

install_part install-program netc
gzip -9n "$stage/netc/usr/share/man/man1/netc.1"
strip "$stage/netc/usr/bin/netc"
libraries='libc6, libjansson4, libprotobuf-c1, libexpat1, zlib1g'
ldd "$stage/netc/usr/bin/netc" | grep -q jansson || libraries=libc6
finish netc "$libraries" 'compiler for neural-network architectures' devel \
  'Suggests: graphviz'

install_part install-shared "$library"
strip --strip-unneeded "$stage/$library/usr/lib/$multiarch/libnetc.so.$version"
mkdir -p "$stage/$library/DEBIAN"
echo "libnetc ${soname##*.so.} $library" >"$stage/$library/DEBIAN/shlibs"
printf 'activate-noawait ldconfig\n' >"$stage/$library/DEBIAN/triggers"
finish "$library" 'libc6' 'shared library of netc' libs 'Multi-Arch: same'

install_part install-library libnetc-dev
install_part install-runtime libnetc-dev
finish libnetc-dev "$library (= $version)" \
  'headers, archives, runtime and CMake package of netc' libdevel \
  'Multi-Arch: same'

package=$stage/python3-netc/usr/lib/python3/dist-packages/netc
mkdir -p "$package"
cp python/netc/*.py python/netc/py.typed "$package"
tools/binding.py include >"$package/abi.py"
finish python3-netc "python3, $library (= $version), netc (= $version)" \
  'netc for Python and notebooks' python 'Suggests: python3-torch'
