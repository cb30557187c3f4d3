#!/bin/sh
# export_demo.sh BUILD: exports networks, models and a training step as C, compiles them with each
# compiler that there is, and compares results and times with croze's.  Other processors are those
# whose cross compilers and emulators (packages gcc-aarch64-linux-gnu, qemu-user-static, ..) are here.
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

run_with() {  # name of the machine, compiler, flags
  machine=$1
  shift
  compile "$@"
  strip -o stripped program 2>/dev/null || cp program stripped
  echo "$*: $(stat -c %s stripped) bytes"
  case $machine in
    here) ./program ;;
    *) "qemu-$machine-static" ./program 5 ;;
  esac
}

demo() {  # name of the example, file that it needs
  what=$1
  folder=$out/$what
  rm -rf "$folder"
  mkdir -p "$folder"
  printf '\n== %s\n' "$what"
  CROZE_THREADS=1 "$build/bin/export_c" "$what" "$folder" ${2+"$2"}
  cd "$folder"
  rm main.c  # the example that is exported with it
  for compiler in gcc clang clang-19; do
    command -v $compiler > /dev/null || continue
    run_with here $compiler
    run_with here $compiler -march=native
  done
  for machine in aarch64 riscv64; do
    command -v "$machine-linux-gnu-gcc" > /dev/null || continue
    command -v "qemu-$machine-static" > /dev/null || continue
    run_with "$machine" "$machine-linux-gnu-gcc" -static
  done
  if command -v valgrind > /dev/null; then
    compile gcc -g
    valgrind -q --error-exitcode=9 ./program 5 | sed 's/^/under valgrind, no errors: /'
  fi
}

if [ ! -f "$weights" ]; then
  echo "no $weights yet: training for one epoch"
  (cd "$source" && "$build/bin/croze" train fashion-mnist --epochs 1 > /dev/null)
fi
"$source/tests/models/fetch.sh" "$build/models"
demo classifier "$weights"
demo training
demo stream
blazeface=$build/models/face_detection_front_128x128_barracuda.onnx
[ -f "$blazeface" ] && demo blazeface "$blazeface"
silero=$build/models/silero_vad_v5.onnx
[ -f "$silero" ] && demo silero "$silero"
exit 0
