#!/bin/sh
# diagrams.sh NETC FOLDER: the diagrams of README.md and docs/pictures.md. They
# are made in docs/, so that their links lead to the sources from there.
set -e
netc=$(realpath "$1")
folder=$(realpath "$2")
cd docs
"$netc" ../examples/resnet50.net -o "$folder/resnet50.svg"
"$netc" ../examples/unet.net -o "$folder/unet.svg"
"$netc" ../examples/zoo/transformer.net -o "$folder/transformer.svg"
"$netc" ../examples/inception.net --direction=lr --color=macs --notes=macs \
  -o "$folder/inception.svg"
