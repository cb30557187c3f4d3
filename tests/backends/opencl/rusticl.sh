#!/bin/sh
# The tests labelled device-opencl-rusticl on Mesa's rusticl 25.0 over llvmpipe, where the system's
# own is older, as Debian 12's is: it computes wrong values, and croze does not use it.  Debian 13 is
# unpacked into FOLDER, if it is not there yet, and the programs of BUILD run in it.  To be run by
# root; needs debootstrap, and 1.2 GB.
#
#   tests/backends/opencl/rusticl.sh BUILD FOLDER [ARGUMENTS OF ctest..]
#   tests/backends/opencl/rusticl.sh build /srv/trixie -R op_list_all -V
#
# An hour on a processor; CROZE_DEVICE and the like are set as tests/devices.cmake says.
set -eu
[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
mkdir -p "$2"
root=$(cd "$2" && pwd)
shift 2

[ -d "$root/usr" ] || debootstrap --variant=minbase trixie "$root"
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
if [ ! -e "$root/etc/OpenCL/vendors/rusticl.icd" ] || [ ! -x "$root/usr/bin/ctest" ]; then
  printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"  # starts no services
  chmod +x "$root/usr/sbin/policy-rc.d"
  in_root apt-get update
  in_root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    cmake mesa-opencl-icd ocl-icd-libopencl1
fi

# The libraries of this system that Debian 13 has in other versions, or has not.
libraries=opt/croze/lib
mkdir -p "$root/$libraries"
ldd "$build/bin/tests/test_op_list" "$build/bin/tests/test_golden" "$build/bin/tests/test_ops" |
  awk '$3 ~ "^/" { print $3 }' | sort -u | while read -r library; do
  name=$(basename "$library")
  in_root ldconfig -p | grep -q "[[:space:]]$name " || cp -L "$library" "$root/$libraries/"
done

# Sources and build are seen where they were configured; what is mounted ends with the command.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
export root build source libraries
exec unshare --mount sh -eu -c '
  mount --make-rprivate /
  for folder in /proc /sys /dev /tmp "$source" "$build"; do
    mkdir -p "$root$folder"
    mountpoint -q "$root$folder" || mount --rbind "$folder" "$root$folder"
  done
  exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp "LD_LIBRARY_PATH=/$libraries" \
    ctest --test-dir "$build" -L "^device-opencl-rusticl$" --output-on-failure "$@"
' sh "$@"
