#!/bin/sh
# gru_resume.sh <gru_text> <text> <folder>: a training that is killed and started again has the
# losses of one that was not, to the last digit.
set -eu
program=$1 text=$2 folder=$3
rm -rf "$folder" && mkdir -p "$folder"
cd "$folder"

"$program" "$text" whole.safetensors 150 >whole.txt

"$program" "$text" cut.safetensors 150 >cut.txt &
child=$!
tries=0
until grep -q "^step 60:" cut.txt; do
  tries=$((tries + 1))
  [ $tries -lt 3000 ] || { echo "step 60 was not reached"; exit 1; }
  sleep 0.02
done
kill -9 $child
wait $child || true

# What is left to do is what the uninterrupted training did after the same checkpoint.
"$program" "$text" cut.safetensors 150 >rest.txt
first=$(head -n 1 rest.txt | sed 's/:.*//')
[ "$first" != "step 1" ] || { echo "it started from the beginning"; exit 1; }
grep "^step" rest.txt >rest-losses.txt
sed -n "/^$first:/,\$p" whole.txt | grep "^step" | cmp - rest-losses.txt
tail -n 1 whole.txt >whole-text.txt
tail -n 1 rest.txt | cmp - whole-text.txt
echo "went on from $first"
