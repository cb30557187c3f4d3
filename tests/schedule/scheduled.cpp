// scheduled.cpp -- small tensor graphs, scheduled and run on the interpreter, beside the reference.
#include "schedule/scheduled.h"

#include <algorithm>
#include <cmath>

#include "croze/backends/interp/interp_device.h"
#include "croze/graph/eval.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/schedule_bytes.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

UOp buffer_under(UOp u) {
  while (!u.is(Op::Buffer)) u = u.src(0);
  return u;
}

Bytes packed(const std::vector<double>& numbers, DType t) {
  const auto size = static_cast<std::size_t>(size_of(t));
  Bytes bytes(size * numbers.size());
  for (std::size_t i = 0; i < numbers.size(); i++) {
    store_bits(bits_of(numbers[i], t), t, &bytes[i * size]);
  }
  return bytes;
}

std::vector<double> numbers_in(const Bytes& bytes, DType t) {
  HostTensor values{t, {}, {}};
  for (std::size_t i = 0; i < bytes.size(); i += static_cast<std::size_t>(size_of(t))) {
    values.bits.push_back(load_bits(&bytes[i], t));
  }
  return values.numbers();
}

}  // namespace

UOp Scheduled::buffer(std::vector<std::int64_t> shape, DType t) {
  std::int64_t elements = 1;
  for (std::int64_t size : shape) elements *= size;
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < elements; i++) numbers.push_back(static_cast<double>(i % 23));
  return buffer(numbers, std::move(shape), t);
}

UOp Scheduled::buffer(const std::vector<double>& numbers, std::vector<std::int64_t> shape,
                      DType t) {
  const UOp flat = graph.buffer(t, std::ssize(contents_), std::ssize(numbers), 0);
  contents_.push_back(numbers);
  reference_.bind(flat, numbers);
  return shape.size() == 1 ? flat : reshape(flat, std::move(shape));
}

namespace {

void expect_within(double tolerance, const std::vector<double>& got,
                   const std::vector<double>& expected, std::size_t root) {
  if (tolerance == 0) {
    EXPECT_EQ(got, expected) << "root " << root;
    return;
  }
  ASSERT_EQ(got.size(), expected.size()) << "root " << root;
  for (std::size_t i = 0; i < got.size(); i++) {
    if (std::isnan(got[i]) && std::isnan(expected[i])) continue;
    EXPECT_NEAR(got[i], expected[i], tolerance * std::fabs(expected[i]))
        << "root " << root << ", element " << i;
  }
}

}  // namespace

UOp Scheduled::assign(UOp state, UOp view, UOp value) {
  const UOp effects[] = {graph.store(view, value)};
  return graph.after(state, effects);
}

Schedule Scheduled::schedule(std::span<const UOp> roots) {
  return schedule_for(*make_interp_device(caps_), canonical_graph(roots), settings);
}

namespace {

// The schedule as another process would find it, where it is of one device.
Schedule kept(Schedule schedule, const CanonicalGraph& graph) {
  const int device = schedule.buffers.at(0).device;
  if (std::ranges::any_of(schedule.buffers, [&](const auto& b) { return b.device != device; }))
    return schedule;
  return schedule_from_bytes(
      schedule_to_bytes(schedule),
      {.inputs = graph.inputs.size(), .roots = graph.roots.size(), .device = device});
}

}  // namespace

Schedule Scheduled::expect_right(std::initializer_list<UOp> roots, double tolerance) {
  const std::unique_ptr<Device> device = make_interp_device(caps_);
  const CanonicalGraph canonical = canonical_graph(std::span(roots.begin(), roots.size()));
  Schedule schedule = kept(schedule_for(*device, canonical, settings), canonical);
  std::vector<Bytes> memory;
  for (UOp b : canonical.inputs) {
    memory.push_back(packed(contents_[static_cast<std::size_t>(b.buffer_id())], b.dtype()));
  }
  const std::vector<Bytes> results = run_schedule(*device, schedule, memory);
  for (std::size_t i = 0; i < roots.size(); i++) {
    const UOp root = roots.begin()[i];
    const UOp buffer = root.is(Op::After) ? buffer_under(root) : UOp();
    Bytes got = results[i];
    for (std::size_t k = 0; k < memory.size(); k++) {
      if (canonical.inputs[k] == buffer) got = memory[k];
    }
    expect_within(tolerance, numbers_in(got, root.dtype()), reference_.evaluate(root).numbers(), i);
  }
  return schedule;
}

std::int64_t work_of(const Schedule& schedule) {
  std::int64_t work = 0;
  for (const ScheduleStep& step : schedule.steps) {
    if (!step.kernel) continue;
    std::int64_t iterations = 1;
    for (UOp u : toposort(step.kernel->sink)) {
      if (u.is(Op::Range)) iterations *= u.range_size();
    }
    work += iterations;
  }
  return work;
}

}  // namespace croze::test
