#!/bin/sh
# gallery.sh NETC FOLDER [NET...]: FOLDER/gallery.md and its diagrams, of these
# nets of examples/zoo, or of all, then with FOLDER/gallery/sheet.html, which
# shows them all at once. FOLDER is docs, or a folder two levels below the
# repository, so that links lead to the sources from there.
set -e
netc=$(realpath "$1")
folder=$2
shift 2
sheet=
[ $# != 0 ] || sheet=yes
[ $# != 0 ] || for file in examples/zoo/*.net; do
  file=${file##*/}
  set -- "$@" "${file%.net}"
done
mkdir -p "$folder/gallery"
folder=$(realpath "$folder")
{
  echo "# Gallery"
  echo
  echo "See how netc draws nets, and copy the command under a figure." \
    "The page"
  echo "[pictures.md](pictures.md) explains diagrams. \`make gallery\`" \
    "makes this page, and draws"
  echo "all nets of \`examples/zoo/\` in \`build/gallery/\`, whose" \
    "\`sheet.html\` shows them at once."
  cd docs/gallery
  for net; do
    source=../../examples/zoo/$net.net
    "$netc" "$source" --emit=svg 2>/dev/null >"$folder/gallery/$net.svg"
    echo
    echo "## $net"
    echo
    awk '!/^#/ { exit } { sub(/^# ?/, ""); print }' "$source"
    echo
    parameters=$("$netc" "$source" --emit=json 2>/dev/null |
      sed -n '/^ "totals"/,$ s/^  "param_count": \([0-9]*\),/\1/p' |
      sed -e ':a' -e 's/\B[0-9]\{3\}\>/,&/' -e ta)
    lines=$(grep -vcE '^ *(#|$)' "$source")
    echo "$lines lines, $parameters parameters: \`netc" \
      "examples/zoo/$net.net -o $net.svg\`"
    echo
    echo "![$net](gallery/$net.svg)"
  done
} >"$folder/gallery.md"
[ -z "$sheet" ] || {
  echo '<!doctype html><meta charset="utf-8"><title>All nets</title><style>'
  echo 'body { font: 11px sans-serif } figure { display: inline-block;'
  echo 'margin: 2px; border: 1px solid #ccc; vertical-align: top }'
  echo 'img { width: 230px; height: 230px; object-fit: contain }</style>'
  for net; do
    echo "<figure><a href=\"$net.svg\"><img src=\"$net.svg\" alt=\"\"></a>"
    echo "<figcaption>$net</figcaption></figure>"
  done
} >"$folder/gallery/sheet.html"
