#!/bin/bash
# What a fresh build of a target costs: processor time of all compilers, and from ninja's log the sum
# and the slowest steps.  The sum is time on the clock, which other work on the machine lengthens.
#
#     tools/build_time.sh [target]     croze-demo, which `make demo` builds, if none is named
set -euo pipefail
target=${1:-croze-demo}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$(dirname "$0")/.."

cmake --preset release -B "$folder" > /dev/null
export CCACHE_DISABLE=1
TIMEFORMAT="processor time: %U s in compilers, %S s in the system"
time ninja -C "$folder" "$target" > "$folder/output" || { tail "$folder/output"; exit 1; }
sort -u -k4,4 "$folder/.ninja_log" | grep -v '^#' |
  awk '{ ms = $2 - $1; sum += ms; print ms / 1000, $4 | "sort -rn | head -20" }
       END { close("sort -rn | head -20"); print sum / 1000, "s in all steps, " NR " of them" }'
