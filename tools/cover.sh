#!/bin/sh
# cover.sh BUILD: what gcov counted in a build with --coverage: lines and
# branches of each file that were reached, then of each room. Of a file that
# is compiled twice, as the runtime is, the build that reached more. Ends with
# 1 if a room is below 80 % of its branches.
set -eu
cd "$1"
table=$(find . -name '*.gcda' ! -path '*/gen/*' | while read -r data; do
  gcov -n -b -o "$(dirname "$data")" "$data" 2>/dev/null
done | awk -F"[':% ]+" '
  function share(hit, all) { return all ? 100 * hit / all : 100 }
  /^File/ { file = $2; sub(/^\.\//, "", file); next }
  file !~ /^[a-z_]+\/.*\.c$/ || file ~ /^(tests|build|tools)\// { next }
  /^Lines/ { more = $3 * $5 / 100 >= hit[file] }
  /^Lines/ && more { lines[file] = $5; hit[file] = $3 * $5 / 100 }
  /^Taken/ && more { branches[file] = $7; taken[file] = $5 * $7 / 100 }
  END {
    for (f in lines) {
      room = f
      sub(/\/.*/, "", room)
      l[room] += lines[f]; h[room] += hit[f]
      b[room] += branches[f]; t[room] += taken[f]
      l["all"] += lines[f]; h["all"] += hit[f]
      b["all"] += branches[f]; t["all"] += taken[f]
      printf "1 %6.1f %% of %5d lines %6.1f %% of %5d branches  %s\n", \
        share(hit[f], lines[f]), lines[f], share(taken[f], branches[f]), \
        branches[f], f
    }
    for (r in l)
      printf "2 %6.1f %% of %5d lines %6.1f %% of %5d branches  %s\n", \
        share(h[r], l[r]), l[r], share(t[r], b[r]), b[r], r
  }' | sort -k1,1 -k6,6n | cut -c3-)
echo "$table"
echo "$table" | awk '!/\.c$/ && $6 < 80 { low = low " " $NF }
  END { if (low) print "cover: below 80 % of branches:" low; exit low != "" }'
