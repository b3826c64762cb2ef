#!/bin/sh
# Turns docs/diagnostics/*.md into a C table for `netc explain`.
set -eu
echo '#include "library/pages.h"'
echo 'const struct page pages[] = {'
for page in "$@"; do
  slug=$(basename "$page" .md)
  printf '{"%s",\n' "$slug"
  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' "$page"
  echo '},'
done
echo '};'
echo 'const size_t page_count = sizeof pages / sizeof *pages;'
