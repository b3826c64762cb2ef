#!/bin/sh
# Turns the style sheet and the script of `-o x.html` into C, line by line:
# web.sh PAGE.css PAGE.js
set -eu
quoted() { sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^ */"/' -e 's/$/\\n",/'; }
echo '#include "drawing/page/html.h"'
echo 'const char *const web_style[] = {'
quoted <"$1"
echo 'NULL};'
echo 'const char *const web_script[] = {'
grep -v '^ *//' "$2" | quoted
echo 'NULL};'
