// schedule_bytes.cpp -- kernels, each once, as their keys, which are their nodes; then the fields.
#include "croze/schedule/schedule_bytes.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/analysis/spec.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/archive.h"
#include "croze/graph/text/serialize.h"

namespace croze {

// ---- fields, which archives find beside the types ---------------------------------------------

template <typename A>
void fields(A& a, BufferReason& r) {
  a(r.cause), a(r.count), a(r.limit);
}
template <typename A>
void fields(A& a, Refusal& r) {
  a(r.cause), a(r.count), a(r.limit);
}
template <typename A>
void fields(A& a, ScheduleBuffer& b) {
  a(b.kind), a(b.input), a(b.dtype), a(b.elements), a(b.count), a(b.device), a(b.arena_offset);
  a(b.shape), a(b.value), a(b.reason), a(b.one_nest), a(b.one_sequence);
}
template <typename A>
void fields(A& a, ScheduleStep& s) {  // without the kernel
  a(s.buffers), a(s.offsets), a(s.variables), a(s.own_variables), a(s.device), a(s.sequence);
}
template <typename A>
void fields(A& a, ScheduleSequence& s) {
  a(s.blocks), a(s.block_bytes), a(s.prelude), a(s.in_order);
}
template <typename A>
void fields(A& a, ArenaPlan& p) {
  a(p.device), a(p.bytes), a(p.lower_bound);
}
template <typename A>
void fields(A& a, ScheduleLaunch& l) {
  a(l.first), a(l.last);
}

namespace {

constexpr std::int64_t no_kernel = -1;

struct Kept {
  std::vector<std::string> kernels;          // keys
  std::vector<std::int64_t> kernel_of_step;  // or no_kernel
  Schedule schedule;
};

template <typename A>
void fields(A& a, Kept& k) {
  Schedule& s = k.schedule;
  a(k.kernels), a(k.kernel_of_step);
  a(s.buffers), a(s.steps), a(s.sequences), a(s.launches), a(s.arenas), a(s.results);
}

struct KeptKernel {
  std::shared_ptr<const Kernel> kernel;
  std::int64_t buffers = 0;  // that it wants at least
};

KeptKernel kernel_of(std::string key) {
  auto kernel = std::make_shared<Kernel>();
  kernel->graph = std::make_shared<Graph>();
  const std::vector<UOp> roots = deserialize(*kernel->graph, key);
  check(roots.size() == 1 && roots[0].is(Op::Sink), "a kernel of the schedule is none");
  kernel->sink = roots[0];
  kernel->key = std::move(key);
  check_kernel(kernel->sink);
  std::int64_t buffers = 0;
  for (UOp u : toposort(kernel->sink)) {
    if (u.is(Op::Param)) buffers = std::max<std::int64_t>(buffers, u.slot() + 1);
  }
  return {std::move(kernel), buffers};
}

// ---- whether all that is named is there -------------------------------------------------------

class Judge {
 public:
  Judge(const Schedule& schedule, const ScheduleFrame& frame) : s_(schedule), frame_(frame) {}

  void judge() const {
    std::ranges::for_each(s_.arenas, [&](const ArenaPlan& a) { want(a.device == frame_.device); });
    std::ranges::for_each(s_.buffers, [&](const ScheduleBuffer& b) { judge_buffer(b); });
    std::ranges::for_each(s_.sequences, [&](const ScheduleSequence& q) {
      want(q.block_bytes >= 0 && q.in_order >= 1);
      want(std::ranges::all_of(q.blocks, [](std::int64_t size) { return size >= 1; }));
    });
    std::ranges::for_each(s_.steps, [&](const ScheduleStep& step) { judge_step(step); });
    judge_launches();
    want(s_.results.size() == frame_.roots);
    for (int result : s_.results) want(result >= -1 && result < std::ssize(s_.buffers));
  }

 private:
  static void want(bool holds) { check(holds, "the schedule is damaged"); }

  void judge_buffer(const ScheduleBuffer& b) const {
    using Kind = ScheduleBuffer::Kind;
    want(b.kind <= Kind::Block && b.dtype > DType::Void && static_cast<int>(b.dtype) < num_dtypes);
    want(b.elements >= 0 && b.elements <= max_elements && b.device == frame_.device);
    want(b.count.is_constant());
    want((b.kind == Kind::Input) == (b.input >= 0));
    want(b.input < static_cast<std::int64_t>(frame_.inputs));
    want(b.reason.cause <= BufferCause::KeptReduction && is_refusal(b.one_nest) &&
         is_refusal(b.one_sequence));
  }
  static bool is_refusal(const Refusal& r) { return r.cause <= RefusalCause::MadeLater; }

  void judge_step(const ScheduleStep& step) const {
    want(step.device == frame_.device && step.sequence >= -1 &&
         step.sequence < std::ssize(s_.sequences));
    for (int b : step.buffers) {
      want(b >= 0 && b < std::ssize(s_.buffers));
      judge_memory(step, s_.buffers[static_cast<std::size_t>(b)]);
    }
    for (int v : step.variables) want(v >= 0 && v < static_cast<std::int64_t>(frame_.variables));
    if (!step.kernel) return want(step.buffers.size() == 2 && step.sequence < 0);
    want(step.offsets.size() == step.buffers.size());
    for (std::size_t i = 0; i < step.buffers.size(); i++) {
      const ScheduleBuffer& b = s_.buffers[static_cast<std::size_t>(step.buffers[i])];
      want(step.offsets[i] >= 0 && step.offsets[i] <= b.bytes());
    }
  }

  // Of a buffer that a step uses: where it lies in the memory of a run or of a block.
  void judge_memory(const ScheduleStep& step, const ScheduleBuffer& b) const {
    std::int64_t room = 0;
    if (b.kind == ScheduleBuffer::Kind::Temporary) {
      want(s_.arenas.size() == 1);
      room = s_.arenas[0].bytes;
    } else if (b.kind == ScheduleBuffer::Kind::Block) {
      want(step.sequence >= 0);
      room = s_.sequences[static_cast<std::size_t>(step.sequence)].block_bytes;
    } else {
      return;
    }
    want(b.arena_offset >= 0 && b.arena_offset <= room - b.bytes());
  }

  void judge_launches() const {
    int next = 0;
    for (const ScheduleLaunch& l : s_.launches) {
      want(l.first == next && l.last > l.first && l.last <= std::ssize(s_.steps));
      next = l.last;
    }
    want(next == std::ssize(s_.steps));
  }

  static constexpr std::int64_t max_elements = std::int64_t{1} << 56;  // whose bytes are a number

  const Schedule& s_;
  const ScheduleFrame& frame_;
};

}  // namespace

std::string schedule_to_bytes(const Schedule& schedule) {
  Kept kept{.kernels = {}, .kernel_of_step = {}, .schedule = schedule};
  std::unordered_map<std::string_view, std::int64_t> numbers;
  for (const ScheduleStep& step : schedule.steps) {
    if (!step.kernel) {
      kept.kernel_of_step.push_back(no_kernel);
      continue;
    }
    const auto [number, is_new] = numbers.try_emplace(step.kernel->key, std::ssize(kept.kernels));
    if (is_new) kept.kernels.push_back(step.kernel->key);
    kept.kernel_of_step.push_back(number->second);
  }
  ArchiveWriter writer;
  writer(kept);
  return std::move(writer.bytes);
}

Schedule schedule_from_bytes(std::string_view bytes, const ScheduleFrame& frame) {
  ArchiveReader reader(ByteReader(std::as_bytes(std::span(bytes)), "a kept schedule"));
  Kept kept;
  reader(kept);
  reader.end();
  std::vector<KeptKernel> kernels;
  for (std::string& key : kept.kernels) kernels.push_back(kernel_of(std::move(key)));
  Schedule& s = kept.schedule;
  check(kept.kernel_of_step.size() == s.steps.size(), "the schedule is damaged");
  for (std::size_t i = 0; i < s.steps.size(); i++) {
    const std::int64_t number = kept.kernel_of_step[i];
    check(number >= no_kernel && number < std::ssize(kernels), "the schedule is damaged");
    if (number == no_kernel) continue;
    const KeptKernel& kernel = kernels[static_cast<std::size_t>(number)];
    check(kernel.buffers <= std::ssize(s.steps[i].buffers), "the schedule is damaged");
    s.steps[i].kernel = kernel.kernel;
  }
  Judge(s, frame).judge();
  return std::move(kept.schedule);
}

}  // namespace croze
