#!/bin/sh
# install.sh BUILD: what the tests of pages need beside the packages of packages.txt: Chromium, node,
# the packages of croze/viz/page, and TensorBoard's reader, which goes into the build.
set -eu
cd "$(dirname "$0")/../.."
# Node that is there may come from elsewhere, with its npm, and then Debian's do not go with it.
missing=
command -v chromium > /dev/null || missing="$missing chromium"
command -v node > /dev/null || missing="$missing nodejs"
command -v npm > /dev/null || missing="$missing npm"
python3 -m pip --version > /dev/null 2>&1 || missing="$missing python3-pip"
# shellcheck disable=SC2086  # a list of names
cmake/install-packages.sh $missing
npm ci --no-audit --no-fund --prefix croze/viz/page
PYTHONPATH="$1/python" python3 -c "import tensorboard" 2> /dev/null ||
  python3 -m pip install --quiet --target "$1/python" tensorboard 'setuptools<81'
