// schedule_runner.cpp -- what run/execute.cpp does, without caches and on memory of the host.
#include "fuzz/schedule_runner.h"

#include "croze/codegen/pipeline.h"
#include "croze/graph/analysis/spec.h"
#include "croze/graph/matrix_unit.h"
#include "croze/run/devices.h"
#include "croze/run/observers.h"
#include "fuzz/launch.h"

namespace croze::fuzz {
namespace {

constexpr std::byte noise{0xa5};

// The scheduler asks for capabilities through a plain function; a test runs in one thread.
thread_local const Caps* current_caps = nullptr;

using Span = std::span<std::byte>;

Span part_of(Bytes& memory, const ScheduleBuffer& buffer) {
  if (buffer.arena_offset < 0) return {};  // no step uses it
  return std::span(memory).subspan(static_cast<std::size_t>(buffer.arena_offset),
                                   static_cast<std::size_t>(buffer.bytes()));
}

// Those of a block are bound when it is run.
Span bytes_of_buffer(const ScheduleBuffer& buffer, std::size_t index, Bytes& arena,
                     std::vector<Bytes>& inputs, std::vector<Bytes>& results) {
  switch (buffer.kind) {
    case ScheduleBuffer::Kind::Input: return inputs[static_cast<std::size_t>(buffer.input)];
    case ScheduleBuffer::Kind::Output: return results[index];
    case ScheduleBuffer::Kind::Temporary: return part_of(arena, buffer);
    case ScheduleBuffer::Kind::Block: return {};
  }
  return {};
}

LinearProgram checked_program(UOp kernel, const Caps& caps, Chooser chooser) {
  check_kernel(kernel);
  const EnvironmentObservers watching;
  LinearProgram program = make_program(kernel, caps, chooser);
  check_program(program.instructions);
  return program;
}

// The steps of a sequence over one block after the other, in memory that holds what the block
// before has left.
void run_sequence(Device& device, const Schedule& schedule, std::span<const ScheduleStep> steps,
                  std::span<const Span> memory, Chooser chooser) {
  Caps caps = device.caps();
  caps.threads = 1;
  std::vector<LinearProgram> programs;
  for (const ScheduleStep& step : steps) {
    programs.push_back(checked_program(step.kernel->sink, caps, chooser));
  }
  const auto& sequence = schedule.sequences[static_cast<std::size_t>(steps[0].sequence)];
  Bytes block_memory(static_cast<std::size_t>(sequence.block_bytes), noise);
  const std::int64_t count = count_blocks(sequence.blocks);
  for (std::int64_t block = 0; block < count; block++) {
    const auto variables = position_of(block, sequence.blocks);
    for (std::size_t i = 0; i < steps.size(); i++) {
      std::vector<Span> buffers;
      for (std::size_t k = 0; k < steps[i].buffers.size(); k++) {
        const auto b = static_cast<std::size_t>(steps[i].buffers[k]);
        const ScheduleBuffer& buffer = schedule.buffers[b];
        const bool inner = buffer.kind == ScheduleBuffer::Kind::Block;
        const Span whole = inner ? part_of(block_memory, buffer) : memory[b];
        buffers.push_back(whole.subspan(static_cast<std::size_t>(steps[i].offsets[k])));
      }
      run_program(device, programs[i], buffers, variables);
    }
  }
}

}  // namespace

void run_kernel(Device& device, UOp kernel, std::span<const std::span<std::byte>> buffers,
                Chooser chooser) {
  run_program(device, checked_program(kernel, device.caps(), chooser), buffers);
}

namespace {

ScheduleContext context_for(const Device& device, const CanonicalGraph& graph,
                            const ScheduleSettings& settings) {
  current_caps = &device.caps();
  const int index = graph.inputs.empty() ? 0 : graph.inputs[0].buffer_device();
  return {.caps = [](int) -> const Caps& { return *current_caps; },
          .default_device = index,
          .fuse = settings.fuse,
          .memory_budget = settings.memory_budget,
          .recompute_percent = settings.recompute_percent};
}

}  // namespace

Schedule schedule_for(const Device& device, const CanonicalGraph& graph,
                      const ScheduleSettings& settings) {
  return make_schedule(graph, context_for(device, graph, settings));
}

Schedule schedule_for(const Device& device, const OpenGraph& graph,
                      const OpenGraph::Instance& instance) {
  const ScheduleContext context = context_for(device, graph.graph, {});
  return with_sizes(make_schedule(graph.graph, context), instance.variables, instance.inputs,
                    context);
}

std::vector<Bytes> run_schedule(Device& device, const Schedule& schedule,
                                std::vector<Bytes>& inputs, Chooser chooser,
                                std::span<const std::int64_t> variables) {
  Bytes arena;
  for (const ArenaPlan& plan : schedule.arenas) {
    arena.assign(static_cast<std::size_t>(plan.bytes), noise);
  }
  std::vector<Bytes> results(schedule.buffers.size());
  std::vector<std::span<std::byte>> memory;
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    const ScheduleBuffer& buffer = schedule.buffers[i];
    if (buffer.kind == ScheduleBuffer::Kind::Output) {
      results[i].assign(static_cast<std::size_t>(buffer.bytes()), noise);
    }
    memory.push_back(bytes_of_buffer(buffer, i, arena, inputs, results));
  }
  for (std::size_t i = 0; i < schedule.steps.size(); i++) {
    const ScheduleStep& step = schedule.steps[i];
    if (step.sequence >= 0) {
      std::size_t count = 1;
      while (i + count < schedule.steps.size() &&
             schedule.steps[i + count].sequence == step.sequence) {
        count++;
      }
      run_sequence(device, schedule, std::span(schedule.steps).subspan(i, count), memory, chooser);
      i += count - 1;
      continue;
    }
    std::vector<std::span<std::byte>> buffers;
    for (std::size_t k = 0; k < step.buffers.size(); k++) {
      const auto offset = static_cast<std::size_t>(step.kernel ? step.offsets[k] : 0);
      buffers.push_back(memory[static_cast<std::size_t>(step.buffers[k])].subspan(offset));
    }
    if (step.kernel) {
      std::vector<std::int64_t> own;
      for (int v : step.variables) own.push_back(variables[static_cast<std::size_t>(v)]);
      own.insert(own.end(), step.own_variables.begin(), step.own_variables.end());
      run_program(device, checked_program(step.kernel->sink, device.caps(), chooser), buffers, own);
    } else {
      std::copy(buffers[1].begin(), buffers[1].end(), buffers[0].begin());
    }
  }
  std::vector<Bytes> roots;
  for (int result : schedule.results) {
    roots.push_back(result < 0 ? Bytes() : results[static_cast<std::size_t>(result)]);
  }
  return roots;
}

Caps scalar_caps() { return device(device_index("INTERP")).caps(); }

Caps cpu_shaped_caps() {
  Caps caps = scalar_caps();
  caps.threads = 2;
  caps.vector_bytes = 64;
  caps.vector_registers = 32;
  caps.masked_vectors = true;
  for (const MatrixUnit& unit : matrix_units()) {
    if (unit.rows == 1 && 4 * unit.columns == caps.vector_bytes) caps.matrix_units.push_back(&unit);
  }
  return caps;
}

Caps small_cache_caps() {
  Caps caps = cpu_shaped_caps();
  caps.l2_bytes = 512;
  return caps;
}

Caps gpu_shaped_caps() {
  Caps caps = scalar_caps();
  caps.has_groups = true;
  caps.max_items = 256;
  for (std::int64_t& limit : caps.max_group_axis) limit = 256;
  for (std::int64_t& limit : caps.max_groups_axis) limit = 65535;
  caps.group_memory = 48 << 10;
  caps.warp_items = 32;
  caps.shuffles_items = caps.ballots_items = true;
  caps.copies_async = true;
  caps.threads = 4;
  caps.max_buffers = 8;
  return caps;
}

Caps vector_warps_caps() {
  Caps caps = gpu_shaped_caps();
  caps.warp_items = 8;
  caps.group_memory_banks = 1;
  caps.shuffles_items = caps.ballots_items = caps.copies_async = false;
  caps.group_memory = 32 << 10;
  caps.threads = 2;
  return caps;
}

Caps lone_items_caps() {
  Caps caps = gpu_shaped_caps();
  caps.warp_items = 1;
  caps.vector_bytes = 64;
  caps.vector_registers = 32;
  caps.masked_vectors = true;
  caps.l2_bytes = caps.group_memory / 2;
  return caps;
}

Caps spare_caps() {
  Caps caps = cpu_shaped_caps();
  caps.vector_bytes = 16;
  caps.vector_registers = 16;
  caps.masked_vectors = false;
  caps.exchanges_lanes = false;
  caps.ops = set_of({Op::Const, Op::Cast, Op::Bitcast, Op::Neg, Op::Not, Op::Add,  Op::Mul,
                     Op::Div,   Op::CDiv, Op::CMod,    Op::Lt,  Op::Le,  Op::Eq,   Op::Ne,
                     Op::And,   Op::Or,   Op::Xor,     Op::Shl, Op::Shr, Op::Where});
  const std::uint32_t halves =
      1u << static_cast<int>(DType::Float16) | 1u << static_cast<int>(DType::BFloat16);
  caps.dtypes &= ~halves;
  caps.storage &= ~halves;
  return caps;
}

}  // namespace croze::fuzz
