#!/bin/sh
# run.sh SECONDS: builds the libFuzzer targets, in the build of the sanitized tests (preset asan), and
# runs each that long, from its corpus, with at most 512 MB.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
cmake --preset asan
names="onnx npy safetensors gguf idx image pytorch tokenizer chat_template trace step events"
cmake --build build-asan -j "$(nproc)" --target $(printf 'fuzz_%s ' $names)
# New inputs go to the first folder, the committed ones are only read: some are golden files, too.
fuzz() {
  mkdir -p "build-asan/corpus/$1"
  seeds="tests/libfuzzer/corpus/$1"
  [ -d "$seeds" ] || seeds="tests/golden/$1"
  "build-asan/bin/fuzz_$1" -max_total_time="$seconds" -rss_limit_mb=512 -timeout=10 \
    -print_final_stats=1 "build-asan/corpus/$1" "$seeds" >"build-asan/corpus/$1.log" 2>&1
}
# As many at once as there are processors; what one prints is shown as a whole.
set -- $names
while [ $# -gt 0 ]; do
  running=
  for name in "$@"; do
    [ "$(echo $running | wc -w)" -lt "$(nproc)" ] || break
    fuzz "$name" &
    running="$running $name:$!"
    shift
  done
  for one in $running; do
    status=0
    wait "${one#*:}" || status=$?
    cat "build-asan/corpus/${one%:*}.log"
    [ $status -eq 0 ] || { echo "fuzz_${one%:*} failed"; exit 1; }
  done
done
