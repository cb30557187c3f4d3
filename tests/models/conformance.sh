#!/bin/sh
# conformance.sh CROZE DIR: the recorded tests of ONNX, if they are there.
if [ ! -d "$2" ]; then
  echo "libonnx-testdata is not installed: there is no $2"
  exit 0
fi
exec "$1" onnx-conformance "$2"
