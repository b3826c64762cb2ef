#!/bin/sh
# What reviewers would have to look for: widths, directions of includes,
# layers named outside layers/, and what flex and bison think.
set -u
failed=0
say() { echo "lint: $*"; failed=1; }

# Expected outputs are written by the program.
sources=$(git ls-files '*.c' '*.h' '*.l' '*.y' '*.def' ':!tests/golden')

# No line beyond 80 columns, no tab, no blank at an end.
wide=$(awk 'length($0) > 80 { print FILENAME ":" FNR }' $sources \
         $(git ls-files 'examples/*.net') | head -5)
[ -z "$wide" ] || say "lines wider than 80 columns: $wide"
# shellcheck disable=SC2086
bad=$(grep -nE "$(printf '\t')| +\$" $sources | head -5)
[ -z "$bad" ] || say "tabs or trailing blanks: $bad"

# Includes point to the left only, and some rooms need less than that.
order="base plan lexer tape layers sequence foreign parser model binding sema lint step checkpoint memory placement \
codegen csource report serving scene pictures diagrams page torch library tensors driver run import readers keras onnx \
from_onnx from_onnx_ops"
needs() { # the rooms that files of $1 may include
  case $1 in
    plan) echo base ;;
    tape) echo base ;;
    layers) echo base tape ;;
    sequence) echo base tape layers ;;
    tensors | scene) echo base ;;
    driver) echo base ;;
    run) echo base runtime tensors driver ;;
    onnx) echo base tensors driver run ;;
    import) echo base lexer driver tensors ;;
    readers | keras) echo base import ;;
    from_onnx) echo base import onnx ;;
    from_onnx_ops) echo base import onnx from_onnx ;;
    *) for room in $order; do echo "$room"; [ "$room" != "$1" ] || break; done ;;
  esac
}
for folder in $order; do
  allowed=" $folder $(needs "$folder" | tr '\n' ' ')"
  for file in $(git ls-files "$folder/*.[chly]"); do
    for header in $(sed -n 's/^#include "\([a-z_]*\)\/.*/\1/p' "$file"); do
      case "$allowed" in
        *" $header "*) ;;
        # The names of what the runtime computes, and how its tables look.
        *) case "$folder/$header" in
             tape/runtime | csource/runtime | library/runtime) continue ;;
             sequence/runtime | onnx/runtime | from_onnx_ops/runtime) continue ;; # distance.h: a rule
           esac
           say "$file includes $header/; $folder needs only:$allowed" ;;
      esac
    done
  done
done

# The runtime is copied into firmware: it includes nothing of the compiler.
strange=$(grep -nE '^#include "[^"]*/' runtime/*.[ch] | head -5)
[ -z "$strange" ] || say "runtime/ includes another room: $strange"

# Layers are data: nobody else names one.
names=$(sed -n 's/^LAYER(\(.*\))/\1/p' layers/layers.def | paste -sd'|')
others=$(echo "$order" | tr ' ' '\n' | grep -vxE 'layers|sequence')
# shellcheck disable=SC2086
named=$(git grep -nE "\blayer_($names)\b" -- $others | head -5)
[ -z "$named" ] || say "a layer is named outside layers/: $named"

# Functions that no longer fit a screen.
long=$(awk '
  FNR == 1 { start = 0 }
  /^[a-z].*\) \{$/ || /^ .*\) \{$/ && start == 0 && !/^  / { start = FNR }
  /^[a-z].*[(,]$/ { if (!start) start = FNR }
  /^}/ { if (start && FNR - start > 70) print FILENAME ":" start; start = 0 }
' $(git ls-files '*.c' | grep -v '^tests/') | head -5)
[ -z "$long" ] || say "functions of over 70 lines: $long"

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
