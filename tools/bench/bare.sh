#!/bin/sh
# The scanner's patterns with nothing behind them, for tools/bench/parse.c.
# usage: tools/bench/bare.sh lexer/scan.l >bare.l
set -eu
cat <<'EOT'
%option reentrant noyywrap nounput noinput nodefault never-interactive 8bit
%option full prefix="bare_"
EOT
sed -n '/^%x/,/^%%/p' "$1"
sed '1,/^%%/d; /^%%/,$d' "$1" | awk '
  /^ /                     { next } # an action goes on
  /^$/ || $NF ~ /^[|;]$/   { print; next }
  /<<EOF>>/                { print $1 "  return 0;"; next }
                           { print $1 "  return 1;" }'
echo '%%'
