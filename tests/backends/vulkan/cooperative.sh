#!/bin/sh
# Test programs on a lavapipe that has cooperative matrices: Mesa's of Debian sid, 26.2; that of
# Debian 12 and 13 has none.  The command runs in BUILD.  See ../in_debian.sh.
#
#   tests/backends/vulkan/cooperative.sh BUILD FOLDER COMMAND..
#   tests/backends/vulkan/cooperative.sh build /srv/sid bin/tests/test_vulkan
#   tests/backends/vulkan/cooperative.sh build /srv/sid ctest -L '^device-vulkan$' -R op_list_on
#
# CROZE_COOPERATIVE is 1, as kernels of a driver on a processor have no matrices else.
set -eu
[ $# -ge 3 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$1 folder=$2
shift 2
exec "$(dirname "$0")/../in_debian.sh" sid "$folder" \
  "cmake libvulkan1 mesa-vulkan-drivers spirv-tools" "$build" env CROZE_COOPERATIVE=1 "$@"
