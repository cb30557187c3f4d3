#!/bin/sh
# Installs what packages.txt and the arguments name and this machine lacks, with apt, as root or
# through sudo.  Fetches nothing when all is there; a system without dpkg is left to its user.
set -eu
list="$(dirname "$0")/../packages.txt"
command -v dpkg-query > /dev/null || exit 0

missing=
for package in $(sed 's/#.*//' "$list") "$@"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root="env DEBIAN_FRONTEND=noninteractive"
elif command -v sudo > /dev/null; then
  as_root="sudo DEBIAN_FRONTEND=noninteractive"
else
  echo "These packages are missing, and only root can install them:$missing" >&2
  exit 1
fi
echo "Installing$missing" >&2
$as_root apt-get update -q >&2
# shellcheck disable=SC2086  # a list of names
$as_root apt-get install -q -y --no-install-recommends $missing >&2
