#!/bin/sh
# Names that an object takes from a room to the right of its own. lint.sh looks
# at includes; a table made by macros hides from that, but not from the linker.
# Usage: links.sh BUILD ROOM..
set -eu
build=$1
shift
git ls-files '*.c' ':!tests' ':!tools' ':!examples' | while read -r source; do
  object=${source%.c}.o
  [ ! -e "$build/obj/$object" ] || echo "$object"
done | (cd "$build/obj" && xargs nm -A -f posix) |
  awk -v rooms="$*" '
    BEGIN { for (n = split(rooms, list, " "); n > 0; n--) place[list[n]] = n }
    {
      file = $1
      sub(/:$/, "", file)
      room = file
      sub(/\/.*/, "", room)
      if ($3 == "U")
        taken[file, $2] = room
      else if ($3 ~ /^[A-Z]$/)
        home[$2] = room
    }
    END {
      for (link in taken) {
        split(link, part, SUBSEP)
        from = taken[link]
        to = home[part[2]]
        if (to != "" && place[to] > place[from])
          print part[1] " takes " part[2] " from " to
      }
    }' | sort
