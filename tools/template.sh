#!/bin/sh
# Turns a text of the program into C, line by line:
# template.sh HEADER NAME FILE
set -eu
echo "#include \"$1\""
echo "const char *const $2[] = {"
sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/",/' "$3"
echo 'NULL};'
