// run_ptx.h -- runs PTX that is written by hand.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/backends/ptx_interp/ptx_interp_device.h"
#include "croze/device/host_memory.h"
#include "support/errors.h"
#include "support/programs.h"

namespace croze::test {

// A kernel with this body, for groups of so many items, with the addresses of its buffers in %d0,
// %d1, .. and the number of the item in %r0.
struct Ptx {
  std::string body;
  int buffers = 1;
  int items = 1;

  std::string text() const {
    std::string parameters, start;
    for (int k = 0; k < buffers; k++) {
      parameters += fmt::format("{}.param .u64 buffer{}", k ? ", " : "", k);
      start += fmt::format("ld.param.u64 %d{0}, [buffer{0}]; ", k);
    }
    return fmt::format(
        ".version 7.1 .target sm_80 .address_size 64\n"
        ".visible .entry croze_hand({}) .reqntid {}, 1, 1 {{\n"
        ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
        ".reg .f32 %f<8>; .reg .f64 %e<8>; {} mov.u32 %r0, %tid.x;\n"
        "{}\n"
        "ret;\n}}\n",
        parameters, items, start, body);
  }
};
// The line of the text in which the body begins.
inline constexpr int first_line = 5;

inline ProgramInfo info_of(const Ptx& ptx, int groups) {
  ProgramInfo info;
  info.name = "hand";
  info.num_buffers = ptx.buffers;
  info.launch.items[0] = ptx.items;
  info.launch.groups[0] = groups;
  return info;
}

// Runs it on these bytes of the host; the first one of each is aligned to 64.
inline void run_ptx(const Ptx& ptx, std::initializer_list<std::span<std::byte>> buffers = {},
                    int groups = 1) {
  const auto device = make_ptx_interp_device();
  const auto program = device->load(info_of(ptx, groups), device->compile("hand", ptx.text()));
  std::vector<Memory> memories;
  std::vector<MemoryView> views;
  for (std::span<std::byte> bytes : buffers) {
    memories.push_back(device->allocate(std::ssize(bytes)));
    views.push_back(MemoryView::all_of(memories.back()));
    device->copy_in(views.back(), bytes);
  }
  try {
    program->launch(views, {});
  } catch (...) {
    for (Memory m : memories) device->release(m);
    throw;
  }
  std::size_t next = 0;
  for (std::span<std::byte> bytes : buffers) device->copy_out(bytes, views[next++]);
  for (Memory m : memories) device->release(m);
}

}  // namespace croze::test
