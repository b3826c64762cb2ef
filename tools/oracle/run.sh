#!/bin/sh
# Runs a command in the folder that make.sh made: run.sh ROOT COMMAND ... It
# sees the folder it is run in, and /tmp, by the same names. Needs root.
set -eu
root=$1
shift
[ -e "$root/opt/oracle/stamp" ] ||
  { echo "oracle: no $root; \`make oracle\` makes it" >&2; exit 1; }
# The mounts end with the command.
export root
# shellcheck disable=SC2016 # of the inner shell
exec unshare --mount --propagation private sh -c '
  set -eu
  mkdir -p "$root$PWD" "$root/tmp"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --bind /tmp "$root/tmp"
  mount --bind "$PWD" "$root$PWD"
  exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 FOLDER="$PWD" \
    sh -c "cd \"\$FOLDER\" && exec \"\$@\"" sh "$@"' sh "$@"
