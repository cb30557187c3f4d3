// device.cpp -- arguments of launches; launches one block after the other.
#include "croze/device/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"

namespace croze {
namespace {

void run_block(const Sequence& sequence, std::int64_t block, Memory memory) {
  const BlockPosition position = position_of(block, sequence.blocks);
  std::vector<MemoryView> buffers;
  for (const Nest& nest : sequence.nests) {
    buffers.assign(nest.buffers.begin(), nest.buffers.end());
    for (MemoryView& view : buffers) {
      if (view.per_block) view = {memory, view.offset, view.bytes};
    }
    nest.program->launch(buffers, variables_at(position, nest));
  }
}

}  // namespace

MemoryView MemoryView::part(std::int64_t first, std::int64_t size) const {
  check(first >= 0 && size >= 0 && first <= bytes && size <= bytes - first,
        "a part of {} bytes from byte {} on leaves a view of {} bytes", size, first, bytes);
  return {memory, offset + first, size, per_block};
}

bool ProgramInfo::reads_image(std::int64_t buffer) const {
  return std::ranges::find(images, buffer, &ImageBuffer::slot) != images.end();
}

std::string device_label(std::string_view kind, int ordinal) {
  return ordinal == 0 ? std::string(kind) : fmt::format("{}:{}", kind, ordinal);
}

void check_copy(const MemoryView& view, std::int64_t bytes) {
  ensure(view.offset >= 0 && view.bytes >= 0 && view.offset <= view.memory.bytes - view.bytes &&
             view.bytes == bytes,
         "copy of {} bytes at {} to or from a view of {} bytes in memory of {}", bytes, view.offset,
         view.bytes, view.memory.bytes);
}

void check_launch(const ProgramInfo& info, std::span<const MemoryView> buffers,
                  std::span<const std::int64_t> variables) {
  ensure(static_cast<int>(buffers.size()) == info.num_buffers &&
             static_cast<int>(variables.size()) >= info.num_variables,
         "kernel {} is launched with {} buffers and {} variables, not {} and {}", info.name,
         buffers.size(), variables.size(), info.num_buffers, info.num_variables);
  for (std::size_t i = 0; i < info.variables.size(); i++) {
    const VariableBounds& b = info.variables[i];
    check(b.lo <= variables[i] && variables[i] <= b.hi,
          "kernel {}: variable {} is {}, but it was compiled for {} to {}", info.name, i,
          variables[i], b.lo, b.hi);
  }
  for (const BufferSize& size : info.sizes) {
    const std::int64_t bytes = buffers[static_cast<std::size_t>(size.buffer)].bytes;
    const std::int64_t needed = size.bytes.value(variables);
    check(bytes >= needed, "kernel {}: buffer {} has {} bytes, with these variables it needs {}",
          info.name, size.buffer, bytes, needed);
  }
}

std::int64_t count_blocks(std::span<const std::int64_t> blocks) {
  std::int64_t count = 1;
  for (std::int64_t n : blocks) count *= n;
  return count;
}

BlockPosition position_of(std::int64_t block, std::span<const std::int64_t> blocks) {
  BlockPosition position(std::ssize(blocks));
  for (std::int64_t axis = std::ssize(blocks); axis-- > 1;) {
    const std::int64_t size = blocks[static_cast<std::size_t>(axis)];
    position[axis] = block % size;
    block /= size;
  }
  if (!blocks.empty()) position[0] = block;
  return position;
}

BlockPosition variables_at(const BlockPosition& position, const Nest& nest) {
  BlockPosition variables = position;
  variables.append(nest.variables.begin(), nest.variables.end());
  return variables;
}

void check_arguments(const Sequence& sequence) {
  if (sequence.blocks.empty()) {
    const Nest& nest = sequence.nests[0];
    return check_launch(nest.program->info(), nest.buffers, nest.variables);
  }
  const BlockPosition first = position_of(0, sequence.blocks);
  for (const Nest& nest : sequence.nests) {
    check_launch(nest.program->info(), nest.buffers, variables_at(first, nest));
    ensure(nest.program->info().launch.tasks == 1, "a nest of a block has tasks of its own");
  }
}

std::int64_t tasks_of(const Sequence& sequence) {
  if (!sequence.blocks.empty()) return count_blocks(sequence.blocks) / sequence.in_order;
  const Nest& nest = sequence.nests[0];
  return nest.program->info().launch.tasks.value(nest.variables);
}

void Device::launch(std::span<const Sequence> sequences) {
  for (const Sequence& sequence : sequences) {
    if (sequence.blocks.empty()) {
      sequence.nests[0].program->launch(sequence.nests[0].buffers, sequence.nests[0].variables);
      continue;
    }
    const Memory memory = allocate(sequence.block_bytes);
    const std::int64_t count = count_blocks(sequence.blocks);
    try {
      for (std::int64_t block = 0; block < count; block++) run_block(sequence, block, memory);
    } catch (...) {
      release(memory);
      throw;
    }
    release(memory);
  }
}

}  // namespace croze
