#!/bin/sh
# Turns docs/diagnostics/*.md and the sections of docs/words.md into C tables
# for `netc explain`: pages.sh WORDS.md PAGE.md...
set -eu
words=$1
shift
quoted() { sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/'; }
echo '#include "library/pages.h"'
echo 'const struct page pages[] = {'
for page in "$@"; do
  printf '{"%s",\n' "$(basename "$page" .md)"
  quoted <"$page"
  echo '},'
done
echo '};'
echo 'const size_t page_count = sizeof pages / sizeof *pages;'
echo 'const struct page words[] = {'
sed -n 's/^## //p' "$words" | while read -r word; do
  printf '{"%s",\n' "$word"
  awk -v w="## $word" '/^## /{ on = $0 == w } on' "$words" |
    sed 's/^## /# /' | quoted
  echo '},'
done
echo '};'
echo 'const size_t word_count = sizeof words / sizeof *words;'
