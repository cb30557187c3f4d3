#!/bin/sh
# export_demo.sh BUILD: exports networks, models and a training step as C, compiles them with each
# compiler that there is, and compares results and times with croze's.  Other processors are those
# whose cross compilers and emulators (packages gcc-aarch64-linux-gnu, qemu-user-static, ..) are here.
# ONNX_PYTHON is a Python with onnxruntime, if its times are wanted, too.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
out=$build/export-demo
weights=$source/fashion_mnist.safetensors
strict="-std=c11 -Wall -Wextra -Werror -pedantic -O3"

# compile COMPILER FLAGS.. : of the folder at hand, to ./program
compile() {
  # shellcheck disable=SC2086  # a list of flags
  "$@" $strict -I. ./*.c "$source/examples/export_c_main.c" -o program -lm
}

# run_with "EMULATOR RUNS" COMPILER FLAGS.. ; no emulator: all runs, here
run_with() {
  emulator=$1
  shift
  compile "$@"
  strip -o stripped program 2>/dev/null || cp program stripped
  echo "$*: $(stat -c %s stripped) bytes"
  # shellcheck disable=SC2086  # a command and its argument
  ${emulator:+"${emulator% *}"} ./program ${emulator:+"${emulator#* }"}
}

# export_to MACHINE WHAT [FILE]: into a folder, which becomes the one at hand
export_to() {
  machine=$1
  what=$2
  shift 2
  printf '\n== %s, kernels for %s\n' "$what" "$machine"
  folder=$out/$what-$machine
  rm -rf "$folder"
  mkdir -p "$folder"
  CROZE_THREADS=1 "$build/bin/export_c" "$what" "$machine" "$folder" "$@"
  cd "$folder"
  rm main.c  # the example that is exported with it
}

compilers=
for compiler in gcc clang clang-19; do
  command -v $compiler > /dev/null && compilers="$compilers $compiler"
done
here=
grep -qs 'avx2.* fma\|fma.* avx2' /proc/cpuinfo && here=x86-64-v3
grep -qs 'avx512vl' /proc/cpuinfo && here=x86-64-v4

# onnxruntime_time FILE SHAPES: of the inputs, by name, as Python has them.
onnxruntime_time() {
  [ -n "${ONNX_PYTHON:-}" ] || return 0
  {
    printf "THREADS, SECONDS, MODELS = 1, 1, {'onnxruntime': ('"
    base64 -w 0 "$1"
    printf "', %s)}\n" "$2"
    cat "$source/bench/onnx_times.py"
  } | $ONNX_PYTHON - | sed 's/.*"onnxruntime": \([0-9]*\.[0-9]\).*/onnxruntime: \1 us a run/'
}

# A million blocks of sound: none may be late, and nothing that could allocate is called.
million_blocks() {
  printf 'stream.c calls: '
  gcc -std=c11 -O3 -c stream.c
  nm -u stream.o | sed 's/.* //' | sort | tr '\n' ' '
  echo
  compile gcc ${here:+-march=$here}
  ./program 1000 1000000
}

demo() {  # what, the file that it needs
  export_to portable "$@"
  for compiler in $compilers; do run_with "" $compiler; done
  for machine in aarch64 riscv64; do
    command -v "$machine-linux-gnu-gcc" > /dev/null || continue
    command -v "qemu-$machine-static" > /dev/null || continue
    run_with "qemu-$machine-static 5" "$machine-linux-gnu-gcc" -static
  done
  if command -v valgrind > /dev/null; then
    compile gcc -g
    valgrind -q --error-exitcode=9 ./program 5 | sed 's/^/under valgrind, no errors: /'
  fi
  [ -n "$here" ] || return 0
  export_to $here "$@"
  for compiler in $compilers; do run_with "" $compiler -march=$here; done
}

if [ ! -f "$weights" ]; then
  echo "no $weights yet: training for one epoch"
  (cd "$source" && "$build/bin/croze" train fashion-mnist --epochs 1 > /dev/null)
fi
"$source/tests/models/fetch.sh" "$build/models"
demo classifier "$weights"
demo training
demo stream
million_blocks
blazeface=$build/models/face_detection_front_128x128_barracuda.onnx
if [ -f "$blazeface" ]; then
  demo blazeface "$blazeface"
  onnxruntime_time "$blazeface" "{'input:0': [1, 128, 128, 3]}"
fi
silero=$build/models/silero_vad_v5.onnx
if [ -f "$silero" ]; then
  demo silero "$silero"
  onnxruntime_time "$silero" "{'input': [1, 512], 'state': [2, 1, 128], 'sr': []}"
fi
exit 0
