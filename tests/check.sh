#!/bin/sh
# Runs test programs, JOBS at a time: check.sh JOBS PROGRAM[:PART]... from the
# repository. PART is fast or slow, for what is marked as slow. Each program
# says how long it took; then what failed, and how many tests of all did. With
# CI in the environment a test that is skipped is a failure, too.
set -u

# The counts of a log: passed, failed, skipped. A program that ends badly
# without a test that failed has one; so has one without any test.
count() {
  awk -v status="$1" '
    # "3 test(s)", of later versions of cmocka "group: 3 test(s)"
    { number = match($0, /[0-9]+ test\(s\)/) ? substr($0, RSTART) + 0 : 0 }
    /^\[  PASSED  \]/ { passed += number }
    /^\[  FAILED  \]/ { failed += number }
    /^\[  SKIPPED \]/ { skipped += number }
    END {
      if (status ? !failed : !passed && !skipped) failed++
      print passed + 0, failed + 0, skipped + 0
    }' "$2"
}

run() {
  program=${1%:fast}
  program=${program%:slow}
  part=${1#"$program"}
  from=$(date +%s%N)
  PART=${part#:} CMOCKA_MESSAGE_OUTPUT=stdout timeout 1500 "$program" \
    >"$1.log" 2>&1
  status=$?
  milliseconds=$((($(date +%s%N) - from) / 1000000))
  count $status "$1.log" >"$1.count"
  read -r passed failed skipped <"$1.count"
  printf '%5d.%d s  %-24s %s\n' $((milliseconds / 1000)) \
    $((milliseconds % 1000 / 100)) "$(basename "$1")" "$(
      echo "$passed passed"
      [ "$failed" = 0 ] || echo ", $failed FAILED"
      [ "$skipped" = 0 ] || echo ", $skipped skipped"
      [ $status -le "$failed" ] || echo ", exit $status"
    )" | tr -d '\n' | sed 's/$/\n/'
}

if [ "$1" = --one ]; then
  run "$2"
  exit
fi

jobs=$1
shift
for program; do
  rm -f "$program.log" "$program.count"
done
printf '%s\n' "$@" | xargs -P "$jobs" -I TEST sh "$0" --one TEST
passed=0 failed=0 skipped=0
for program; do
  read -r p f s <"$program.count" || { p=0 f=1 s=0; }
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  [ "$f" = 0 ] || {
    echo "$(basename "$program"):"
    grep -aE '\[  (FAILED|ERROR)' -B 20 "$program.log" |
      grep -avE '\[ RUN|\[       OK' | head -n 60
    tail -n 3 "$program.log"
  }
  sed -n "/test(s)/!s/^\[  SKIPPED \]/skipped: $(basename "$program"):/p" \
    "$program.log" | sort -u
done
[ -z "${CI:-}" ] || [ $skipped = 0 ] ||
  echo "nothing may be skipped with CI in the environment"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && { [ -z "${CI:-}" ] || [ $skipped = 0 ]; }
