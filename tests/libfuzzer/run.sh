#!/bin/sh
# run.sh SECONDS: builds the libFuzzer targets and runs each that long, from its corpus, with at most
# 512 MB.  Does nothing, saying so, where there is no clang.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
compiler=$(command -v clang++-19 || command -v clang++ || true)
if [ -z "$compiler" ]; then
  echo "no clang: the libFuzzer targets are not run"
  exit 0
fi
cmake --preset fuzz -DCMAKE_CXX_COMPILER="$compiler"
names="onnx npy safetensors gguf idx image pytorch tokenizer chat_template trace step events"
cmake --build build-fuzz -j "$(nproc)" --target $(printf 'fuzz_%s ' $names)
for name in $names; do
  mkdir -p "build-fuzz/corpus/$name"
  # New inputs go to the first folder, the committed ones are only read: some are golden files, too.
  seeds="tests/libfuzzer/corpus/$name"
  [ -d "$seeds" ] || seeds="tests/golden/$name"
  "build-fuzz/bin/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=512 -timeout=10 \
    -print_final_stats=1 "build-fuzz/corpus/$name" "$seeds"
done
