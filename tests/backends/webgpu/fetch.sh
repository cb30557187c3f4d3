#!/bin/sh
# Fetches what the device WEBGPU runs on where there is no GPU: Dawn from npm, and from Debian the
# loader of Vulkan and SwiftShader, which comes with Chromium.  Installs nothing; unpacks into a
# folder and prints what to set.
#
#   tests/backends/webgpu/fetch.sh FOLDER > webgpu.env && . ./webgpu.env
#   ctest --test-dir build -L device-webgpu
set -eu
[ $# = 1 ] || { echo "usage: fetch.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
folder=$(pwd)
{
  npm pack bun-webgpu-linux-x64@0.1.7
  tar xzf bun-webgpu-linux-x64-0.1.7.tgz
  apt-get download libvulkan1 chromium-common
  for package in libvulkan1_*.deb chromium-common_*.deb; do dpkg -x "$package" root; done
} >&2
echo "export CROZE_WEBGPU_LIBRARY=$folder/package/libwebgpu_wrapper.so"
echo "export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu"
echo "export VK_ICD_FILENAMES=$folder/root/usr/lib/chromium/vk_swiftshader_icd.json"
