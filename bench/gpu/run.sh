#!/bin/sh
# What croze does on a GPU of NVIDIA's, in one call of less than nine minutes.
#
#   bench/gpu/run.sh pack build FOLDER     here: programs, their libraries and recordings, 112 MB,
#                                          31 MB by xz
#   bench/gpu/run.sh run FOLDER RESULT     there: the device suite, the op list, a sample of what
#                                          PyTorch computed, and times beside the CPU's and PyTorch's;
#                                          products by wgmma, too, with results beside those without
#
# Both lists are samples, one in OP_LIST_ONE_IN (100) and one in TORCH_ONE_IN (6).  There, the driver
# and NVRTC (of a toolkit, or of PyTorch's packages) must be installed; PyTorch is used if python3 has
# it.  RESULT is one JSON; the status is 1 if a test fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# Libraries of the system's loader and C are those of the machine.
pack() {
  build=$1 folder=$2
  mkdir -p "$folder/bin" "$folder/lib"
  for program in bin/croze bin/croze-bench bin/tests/test_cuda_device bin/tests/test_op_list \
    bin/tests/test_golden; do
    strip -o "$folder/bin/$(basename "$program")" "$build/$program"
    ldd "$build/$program" | awk '$3 ~ "^/" { print $3 }' |
      grep -v -E '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
      while read -r library; do cp -uL "$library" "$folder/lib/"; done
  done
  [ ! -e "$build/lib/libLLVM-croze.so" ] || cp "$build/lib/libLLVM-croze.so" "$folder/lib/"
  cp -r "$here/../../tests/golden/torch" "$folder/recordings"
  cp "$here/run.sh" "$here/torch_times.py" "$here/result.py" "$folder/"
}

# step NAME SECONDS COMMAND..: its output in $work/NAME.log, its status in $work/NAME.status.  All
# seconds together are less than nine minutes.
step() {
  name=$1 seconds=$2
  shift 2
  echo "$name" >&2
  status=0
  timeout "$seconds" "$@" > "$work/$name.log" 2> "$work/$name.errors" || status=$?
  echo "$status" > "$work/$name.status"
}

run() {
  folder=$(cd "$1" && pwd) result=$2
  work=$(mktemp -d)
  export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export TORCH_RECORDINGS="$folder/recordings" CROZE_CACHE_DIR="$work/cache"
  export CROZE_DEVICE=CUDA
  export TORCH_ONE_IN="${TORCH_ONE_IN:-6}" OP_LIST_ONE_IN="${OP_LIST_ONE_IN:-100}"
  if [ -z "${CROZE_NVRTC_LIBRARY:-}" ]; then
    CROZE_NVRTC_LIBRARY=$(find / -name 'libnvrtc.so.1[0-9]*' -not -path '/proc/*' 2> /dev/null |
      sort -V | tail -n 1)
    export CROZE_NVRTC_LIBRARY
  fi
  step devices 15 "$folder/bin/croze" devices --json
  step device_suite 40 "$folder/bin/test_cuda_device"
  step far_offsets 20 "$folder/bin/test_op_list" '--gtest_filter=FarOffsets.*'
  step op_list 75 "$folder/bin/test_op_list" '--gtest_filter=*OpList*'
  step golden 80 "$folder/bin/test_golden" '--gtest_filter=*OnTheDevice*'
  step times 60 "$folder/bin/croze-bench" gpu --device CUDA --seconds 0.3 --json
  step large 80 "$folder/bin/croze-bench" gpu --device CUDA --large --case '^(?!.*step)' \
    --seconds 0.2 --json
  step models 50 "$folder/bin/croze-bench" gpu --device CUDA --large --case step --seconds 1 --json
  step wgmma 40 env CROZE_WGMMA=1 "$folder/bin/croze-bench" gpu --device CUDA --large \
    --case '(float16|float8_e4m3) matmul (2048|4096|8192)x|bfloat16 conv' --seconds 0.2 --json
  step torch 75 python3 "$folder/torch_times.py" 70
  python3 "$folder/result.py" "$work" > "$result"
}

case ${1:-} in
  pack) pack "$2" "$3" ;;
  run) run "$2" "$3" ;;
  *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
