#!/bin/sh
# install.sh BUILD: NVIDIA's compiler (NVRTC), assembler and disassembler (ptxas, nvdisasm) for the
# tests that compile for GPUs, from PyPI into BUILD/cuda.  They need no GPU.  A toolkit that is
# installed serves as well.
#
#   tests/cuda/install.sh build && ctest --test-dir build -L compile-cuda
set -eu
python3 -m pip install --quiet --no-deps --target "$1/cuda" nvidia-cuda-nvrtc nvidia-cuda-nvcc \
  nvidia-cuda-nvdisasm
