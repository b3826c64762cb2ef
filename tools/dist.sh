#!/bin/sh
# A release: dist.sh NAME TARBALL GENERATED... Equal input, equal bytes: dates
# are those of the last commit, and nobody owns the files.
set -eu
name=$1
tarball=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/$name/generated"
git ls-files -z | xargs -0 cp --parents -P -t "$folder/$name"
cp "$@" "$folder/$name/generated/"
tar --sort=name --owner=0 --group=0 --numeric-owner \
  --mode='u+rwX,go+rX,go-w' --mtime="@$(git log -1 --format=%ct)" \
  -C "$folder" -cf - "$name" | gzip -n9 >"$tarball.tmp"
mv "$tarball.tmp" "$tarball"
echo "$tarball"
