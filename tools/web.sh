#!/bin/sh
# Turns the style sheets and the scripts of pages into C, line by line; the
# first ones are those of every page with a diagram:
# web.sh VIEW.css VIEW.js PAGE.css PAGE.js
set -eu
quoted() { sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^ */"/' -e 's/$/\\n",/'; }
echo '#include "drawing/page/html.h"'
script() { grep -v '^ *//' "$1" | sed 's/^export //' | quoted; }
list() {
  echo "const char *const $1[] = {"
  shift
  "$@"
  echo 'NULL};'
}
list view_style quoted <"$1"
list view_script script "$2"
list web_style quoted <"$3"
list web_script script "$4"
