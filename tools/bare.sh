#!/bin/sh
# Types the commands of README's "Install" in a bare Debian: bare.sh [SUITE
# [FOLDER]]. The suite is bookworm unless named, apt's configuration is this
# machine's, the checkout a clone of this one. The root lies in a new folder
# below FOLDER or /tmp, and is removed at the end. Needs root and mmdebstrap.
set -eu
cd "$(dirname "$0")/.."
suite=${1:-bookworm}
folder=$(mktemp -d "${2:-/tmp}/netc-bare.XXXXXX")
root=$folder/root

remove() {
  for mounted in dev/pts dev proc; do
    ! mountpoint -q "$root/$mounted" || umount "$root/$mounted" ||
      umount -l "$root/$mounted"
  done
  rm -rf --one-file-system "$folder"
}
trap remove EXIT
trap 'exit 1' HUP INT TERM

commands=$(awk '/^## / { here = /^## Install/ }
  /^```/ { code = /^```sh/ } here && code && !/^```/' README.md)
[ "$(echo "$commands" | wc -l)" = 2 ] ||
  { echo "bare: README's Install has other than two commands" >&2; exit 1; }

sources=/etc/apt/sources.list.d/debian.sources
[ -e $sources ] || sources=/etc/apt/sources.list
sed "s/bookworm/$suite/g" $sources >"$folder/${sources##*/}"
set --
for file in /etc/apt/apt.conf.d/*; do
  ! grep -q Acquire "$file" || set -- "$@" "--aptopt=$file"
done
mmdebstrap --quiet --mode=root --variant=minbase "$@" "$suite" "$root" \
  "$folder/${sources##*/}"

git clone -q . "$root/opt/netc"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
echo "$commands" | while read -r command; do
  echo "bare $suite: $command"
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    TERM=dumb DEBIAN_FRONTEND=noninteractive \
    MAKEFLAGS="-j$(nproc)" \
    sh -c "cd /opt/netc && $command" </dev/null
done
