// run_edited.h -- a small kernel, edited and run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/base/function_ref.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/device/device.h"
#include "edits/kernels.h"
#include "support/schedule_runner.h"

namespace croze::test {

struct Edited {
  std::vector<std::int32_t> result;
  std::string edits;  // that were made
};

inline Edited run_edited(Device& device, const SmallKernel& kernel,
                         function_ref<void(KernelState&)> edit) {
  std::vector<std::vector<std::int32_t>> buffers = kernel.buffers;
  std::vector<std::span<std::byte>> bytes;
  for (auto& b : buffers) bytes.push_back(std::as_writable_bytes(std::span(b)));
  Edited edited;
  auto edit_and_note = [&](KernelState& k) {
    edit(k);
    edited.edits = to_text(k.applied);
  };
  run_kernel(device, kernel.sink, bytes, edit_and_note);
  edited.result = buffers[0];
  return edited;
}

}  // namespace croze::test
