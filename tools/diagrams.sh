#!/bin/sh
# diagrams.sh NETC FOLDER: the diagrams of README.md and docs/pictures.md. They
# are made in docs/ for standard output, so that their links lead to the sources
# from there.
set -e
netc=$(realpath "$1")
folder=$(realpath "$2")
cd docs
"$netc" -Wno-pool-remainder ../examples/simple_cnn.net --emit=svg \
  >"$folder/simple_cnn.svg"
"$netc" tutorial.net --emit=svg >"$folder/tutorial.svg"
"$netc" ../examples/resnet50.net --emit=svg >"$folder/resnet50.svg"
"$netc" ../examples/unet.net --emit=svg >"$folder/unet.svg"
"$netc" ../examples/zoo/transformer.net --emit=svg >"$folder/transformer.svg"
"$netc" ../examples/zoo/sd_unet.net --emit=svg >"$folder/sd_unet.svg"
"$netc" ../examples/zoo/yolov8.net --emit=svg >"$folder/yolov8.svg"
"$netc" ../examples/inception.net --direction=lr --fill=macs --notes=macs \
  --emit=svg >"$folder/inception.svg"
