#!/bin/sh
# Runs a command of the tests in another Debian, for drivers that this one has not.  It is unpacked
# into FOLDER with the packages, unless they are there; the programs of BUILD run in it.  To be run
# by root; needs debootstrap, and about 1 GB.
#
#   tests/backends/in_debian.sh RELEASE FOLDER 'PACKAGES' BUILD COMMAND..
set -eu
[ $# -ge 5 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
release=$1
mkdir -p "$2"
root=$(cd "$2" && pwd)
packages=$3
build=$(cd "$4" && pwd)
shift 4

[ -d "$root/usr" ] || debootstrap --variant=minbase "$release" "$root"
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
# shellcheck disable=SC2086
if ! in_root dpkg-query -W $packages > /dev/null 2>&1; then
  printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"  # starts no services
  chmod +x "$root/usr/sbin/policy-rc.d"
  in_root apt-get update
  in_root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
fi

# The libraries of this system that the other one has in other versions, or has not.  What programs
# have open that run there is left as it is.
libraries=opt/croze/lib
mkdir -p "$root/$libraries"
ldd "$build"/bin/croze* "$build"/bin/tests/test_* 2>/dev/null | awk '$3 ~ "^/" { print $3 }' | sort -u |
  while read -r library; do
    copy=$root/$libraries/$(basename "$library")
    in_root ldconfig -p | grep -q "[[:space:]]$(basename "$library") " && continue
    cmp -s "$library" "$copy" && continue
    cp -L "$library" "$copy.new"
    mv "$copy.new" "$copy"
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
    sh -c "cd \"\$0\" && exec \"\$@\"" "$build" "$@"
' sh "$@"
