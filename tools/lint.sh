#!/bin/sh
# Rules that reviewers would have to check: formatting, directions of includes,
# layers named outside layers/, and what flex, bison and shellcheck think.
set -u
failed=0
say() { echo "lint: $*"; failed=1; }

# Expected outputs are written by the program.
sources=$(git ls-files '*.c' '*.h' '*.l' '*.y' '*.def' ':!tests/golden')

# No line beyond 80 columns, no tab, no blank at an end.
scripts=$(git ls-files '*.sh' .ci/run)
# shellcheck disable=SC2046,SC2086
wide=$(awk 'length($0) > 80 { print FILENAME ":" FNR }' $sources \
         $scripts $(git ls-files 'examples/*.net') | head -5)
[ -z "$wide" ] || say "lines wider than 80 columns: $wide"
# shellcheck disable=SC2086
bad=$(grep -nE "$(printf '\t')| +\$" $sources | head -5)
[ -z "$bad" ] || say "tabs or trailing blanks: $bad"

# C is formatted, scripts are checked, where the tools are (Debian's 14).
if command -v clang-format >/dev/null; then
  # shellcheck disable=SC2046
  clang-format --dry-run -Werror \
    $(git ls-files '*.c' '*.h' ':!tests/golden' ':!tests/data') 2>&1 |
    grep error: | head -5 | grep . && say "clang-format -i FILE"
elif [ -n "${CI:-}" ]; then
  say "clang-format is missing: apt-get install clang-format"
fi
if command -v shellcheck >/dev/null; then
  # shellcheck disable=SC2086
  shellcheck $scripts || say "shellcheck is not content"
elif [ -n "${CI:-}" ]; then
  say "shellcheck is missing: apt-get install shellcheck"
fi

# An include points left in this list: of rooms, and of what a room is made of.
order="include runtime base lexer ops layers/tape layers layers/sequence \
layers/foreign parser sema/model sema/repeat sema/binding sema sema/lint \
memory/plan \
memory/step memory/checkpoint memory/devices memory memory/serving \
memory/answer codegen codegen/report codegen/serving codegen/c codegen/torch \
drawing/scene drawing drawing/diagram drawing/charts drawing/page library \
export import/bytes import/tensors import import/caffe \
import/darknet import/keras import/pytorch import/tflite import/onnx \
import/openvino import/exported import/python import/ncnn \
import/huggingface import/yolo driver \
driver/run driver/search driver/import driver/lsp web"
# Some need less than that: a room, and all that it may include.
stricter="
runtime        -
memory/plan    base
layers/tape    base runtime
drawing/scene  base
export         include runtime base ops
import/bytes   base
import/tensors base import/bytes
import         include runtime base lexer ops layers import/bytes import/tensors
driver include base export import/bytes import/tensors import driver/run \
runtime
driver/run     include base import/bytes import/tensors import driver runtime
driver/search  include base driver driver/run
driver/import  include base import/bytes import/tensors import \
import/pytorch import/huggingface driver
driver/lsp     include base driver
web            include base import import/bytes import/huggingface import/onnx \
import/pytorch
"
strayed=$(for room in $order; do
  left="${left:-} $room"
  allowed=$(echo "$stricter" | sed -n "s|^$room  *||p")
  allowed=" ${allowed:-$left} $room "
  git grep -o '^#include ".*/' -- ":(glob)$room/*.[chly]" |
    while IFS=: read -r file other; do
      other=${other#*\"}
      case "$allowed" in
        *" ${other%/} "*) ;;
        *) echo "$file includes $other" ;;
      esac
    done
done | head -5)
[ -z "$strayed" ] || say "an include does not point left: $strayed"

# Nor does a name that an object takes, where there are objects.
# shellcheck disable=SC2046
strayed=$(tools/links.sh "${BUILD:-build}" $(echo "$order" | tr ' ' '\n' |
            sed 's|/.*||' | uniq) | head -5)
[ -z "$strayed" ] || say "a name is taken from the right: $strayed"

# Layers are data: nobody else names one. (layer_scale is torchvision's.)
names=$(sed -nE 's/^(LAYER|FUNCTION)\(([a-z0-9]*),.*/\2/p' ops/ops.def |
          paste -sd'|')
named=$(git grep -nE "\blayer_($names)\b" -- '*.[chly]' '*.def' \
  ':!layers' ':!tests' ':!driver/run/torchvision.def' | head -5)
[ -z "$named" ] || say "a layer is named outside layers/: $named"

# Nor does a message list them: the rows know which have a property.
listed=$(git grep -nE "\"[^\"]*\b($names), ($names)(,| and) " -- '*.c' '*.y' \
  ':!layers' ':!tests' ':!tools' | head -5)
[ -z "$listed" ] || say "a message lists layers outside layers/: $listed"

# A tag stands once: whoever reads it knows which is meant.
# shellcheck disable=SC2046
twice=$(sed -nE 's/^(struct|enum|union) ([a-z_0-9]+) \{.*/\2/p' \
  $(git ls-files '*.[ch]' ':!tests' ':!tools' ':!examples') | sort | uniq -d |
  head -5)
[ -z "$twice" ] || say "two structs or enums of one name: $twice"

# A page begins with what its reader can do with it.
for page in docs/*.md; do
  sed 6q "$page" | grep -qE "^(For|To|You can|Use|Find|See) " ||
    say "$page: what can the reader do with it?"
  name=${page##*/}
  sed -n '/^GROUPS/,/^]/p' tools/site.py | grep -qw -- "${name%.md}" ||
    say "$page: GROUPS of tools/site.py lacks it"
done

# Its links lead to files that are there.
lost=$(for page in *.md docs/*.md docs/*/*.md; do
  grep -oE '\]\([^)]*\)' "$page" | grep -v '://' | sed 's/^..//; s/[#)].*//' |
    while read -r link; do
      [ -z "$link" ] || [ -e "${page%"${page##*/}"}$link" ] ||
        echo "$page: $link"
    done
done | head -5)
[ -z "$lost" ] || say "a link leads nowhere: $lost"

# Functions that no longer fit a screen.
# shellcheck disable=SC2046
long=$(awk '
  FNR == 1 { start = 0 }
  /^[a-z].*\) \{$/ || /^ .*\) \{$/ && start == 0 && !/^  / { start = FNR }
  /^[a-z].*[(,]$/ { if (!start) start = FNR }
  /^}/ { if (start && FNR - start > 70) print FILENAME ":" start; start = 0 }
' $(git ls-files '*.c' | grep -v '^tests/') | head -5)
[ -z "$long" ] || say "functions of over 70 lines: $long"

# Packages of the playground come from whichever registry npm asks.
! grep -q '"resolved"' web/package-lock.json ||
  say "web/package-lock.json names places: npm install in web/"

# Every file says what it is for.
for file in $sources; do
  head -2 "$file" | grep -q '/\*' || say "$file: no word on what it is for"
done

# A scanner without silent back-up, a grammar without conflicts.
temporary=$(mktemp -d)
flex -b -o "$temporary/scan.c" lexer/scan.l 2>"$temporary/flex"
[ ! -s "$temporary/flex" ] || say "flex: $(head -3 "$temporary/flex")"
grep -q 'No backing up' lex.backup || say "flex: the scanner backs up"
rm -f lex.backup
bison -Wall -Wcex -Werror -o "$temporary/grammar.c" parser/grammar.y ||
  say "bison is not content"
rm -rf "$temporary"
exit $failed
