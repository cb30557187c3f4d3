#!/bin/sh
# export_demo.sh BUILD: exports the network that `make demo` trains, compiles it with each C
# compiler that there is, and compares predictions and times.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
weights=$source/fashion_mnist.safetensors
out=$build/export-demo

if [ ! -f "$weights" ]; then
  echo "no $weights yet: training for one epoch"
  (cd "$source" && "$build/bin/croze" train fashion-mnist --epochs 1 >/dev/null)
fi
mkdir -p "$out"
CROZE_THREADS=1 "$build/bin/export_c" "$weights" "$out"

cd "$out"
strict="-std=c11 -Wall -Wextra -Werror -pedantic -O3"
for compiler in gcc clang clang-19; do
  command -v $compiler >/dev/null || continue
  for machine in "" "-march=native"; do
    program=fashion-$compiler$machine
    $compiler $strict $machine -I. fashion.c "$source/examples/export_c_main.c" -o "$program" -lm
    strip "$program"
    echo "$compiler $strict $machine: $(stat -c %s "$program") bytes"
    "./$program"
  done
done
