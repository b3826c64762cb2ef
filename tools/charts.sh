#!/bin/sh
# charts.sh NETC FOLDER: the pictures of docs/pictures.md.
set -e
"$1" examples/resnet50.net --batch 96 --optimizer adam --gpu rtx3060 \
  -o "$2/resnet50.timeline.svg" -o "$2/resnet50.roofline.svg"
"$1" examples/resnet50.net --batch 96 --optimizer adam \
  --compare "checkpoint=8" --compare "precision=mixed" \
  --compare "pipeline=4 microbatches=8" \
  -o "$2/resnet50.compared.timeline.svg"
"$1" sweep examples/search/mcunet.net -D width=0.2..1:0.05 \
  --input 48..224:16 --pareto macs,arena -o "$2/mcunet.pareto.svg"
"$1" examples/zoo/gpt2.net -o "$2/gpt2.bars.svg"
"$1" examples/unet.net -o "$2/unet.arena.svg" -o "$2/unet.volumes.svg"
