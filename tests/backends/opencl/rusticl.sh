#!/bin/sh
# The tests labelled device-opencl-rusticl, and those with images, on Mesa's rusticl 25.0 over
# llvmpipe, in Debian 13: that of Debian 12 is older, computes wrong values, and is not used by
# croze.  See ../in_debian.sh.
#
#   tests/backends/opencl/rusticl.sh BUILD FOLDER [ARGUMENTS OF ctest..]
#   tests/backends/opencl/rusticl.sh build /srv/trixie -R op_list_all -V
#
# An hour on a processor; CROZE_DEVICE and the like are set as tests/devices.cmake says.
set -eu
[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$1 folder=$2
shift 2
exec "$(dirname "$0")/../in_debian.sh" trixie "$folder" "cmake mesa-opencl-icd ocl-icd-libopencl1" \
  "$build" ctest -L "^device-(opencl|images)-rusticl$" --output-on-failure "$@"
