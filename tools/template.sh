#!/bin/sh
# Turns the template of a shell's completion into C, line by line:
# template.sh FILE.bash.in
set -eu
echo '#include "driver/completion.h"'
echo 'const char *const completion_bash[] = {'
sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/",/' "$1"
echo 'NULL};'
