// check.cpp -- running random programs, and making failing ones small.
#include "fuzz/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>

#include "croze/graph/analysis/spec.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/buffers.h"
#include "croze/run/execute.h"
#include "fuzz/open/opened.h"
#include "fuzz/schedule_runner.h"

namespace croze::fuzz {
namespace {

UOp buffer_under(UOp u) {
  while (!u.is(Op::Buffer)) u = u.src(0);
  return u;
}

std::string compared(const FuzzProgram& program, int instruction, const char* what,
                     std::span<const std::byte> bytes) {
  const Value& expected = program.value(instruction);
  const HostTensor got = from_bytes(bytes, expected.data.dtype, expected.data.shape);
  const std::string text = difference(expected, got);
  return text.empty() ? text : fmt::format("{} {}: {}", what, instruction, text);
}

// Runs f; an exception is a failure like any other.
std::string guarded(const std::function<std::string()>& f) {
  try {
    return f();
  } catch (const std::exception& e) {
    return fmt::format("exception: {}", e.what());
  }
}

// Buffer instruction -> the instruction that holds its contents once the roots have been computed.
std::map<int, int> final_states(const FuzzProgram& program) {
  std::vector<bool> needed(program.code.size(), false);
  for (int root : program.roots) needed[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = program.code.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (int s : program.code[i].src) needed[static_cast<std::size_t>(s)] = true;
  }
  std::map<int, int> last;
  for (std::size_t i = 0; i < program.code.size(); i++) {
    int first = static_cast<int>(i);
    while (program.at(first).op == Op::After) first = program.at(first).src[0];
    const bool is_state = first != static_cast<int>(i) && needed[i];
    if (program.code[i].op == Op::Buffer || is_state) last[first] = static_cast<int>(i);
  }
  return last;
}

// Buffers that are released at the end.
class Buffers {
 public:
  ~Buffers() {
    for (UOp b : all_) release_buffer(b.buffer_id());
  }
  UOp add(UOp buffer) { return all_.emplace_back(buffer); }

 private:
  std::vector<UOp> all_;
};

std::string realized(const FuzzProgram& program, int device) {
  Graph graph;
  Buffers buffers;
  std::map<int, UOp> inputs;
  const std::vector<UOp> nodes = build(program, graph, [&](int i) {
    const HostTensor& data = program.value(i).data;
    const UOp buffer = buffers.add(new_buffer(graph, data.dtype, data.size(), device));
    write_buffer(buffer, to_bytes(data));
    return inputs[i] = buffer;
  });
  const std::vector<UOp> results = realize(roots_of(program, nodes));
  auto read = [](UOp buffer) {
    Bytes bytes(static_cast<std::size_t>(buffer.elements() * size_of(buffer.dtype())));
    read_buffer(buffer, bytes);
    return bytes;
  };
  std::string text;
  for (std::size_t r = 0; r < results.size(); r++) {
    if (program.at(program.roots[r]).op == Op::After) continue;
    const UOp buffer = buffers.add(buffer_under(results[r]));
    if (text.empty()) text = compared(program, program.roots[r], "root", read(buffer));
  }
  for (const auto& [first, last] : final_states(program)) {
    if (text.empty()) text = compared(program, last, "buffer", read(inputs.at(first)));
  }
  return text;
}

bool may_become_buffer(const Instruction& in) {
  return in.op != Op::Buffer && in.op != Op::Const && in.op != Op::After;
}

}  // namespace

ScheduledProgram::ScheduledProgram(const FuzzProgram& program, Device& device, OpeningSeed opening)
    : program_(program), device_(device) {
  Graph graph;
  const std::vector<UOp> nodes = build(program, graph, [&](int i) {
    const HostTensor& data = program.value(i).data;
    return graph.buffer(data.dtype, i, data.size(), 0);
  });
  const std::vector<UOp> roots = roots_of(program, nodes);
  for (UOp root : roots) check_tensor_graph(root);
  graph_ = canonical_graph(roots);
  for (UOp input : graph_.inputs) buffers_.push_back(static_cast<int>(input.buffer_id()));
  schedule_ = schedule_for(device, graph_);
  if (opening) open_sizes(schedule_, *opening);
}

std::string ScheduledProgram::run(Chooser chooser) const {
  return guarded([&] {
    std::vector<Bytes> memory;
    for (int buffer : buffers_) memory.push_back(to_bytes(program_.value(buffer).data));
    const std::vector<Bytes> results = run_schedule(device_, schedule_, memory, chooser);
    std::string text;
    for (std::size_t r = 0; r < results.size() && text.empty(); r++) {
      if (program_.at(program_.roots[r]).op == Op::After) continue;
      text = compared(program_, program_.roots[r], "root", results[r]);
    }
    const std::map<int, int> last = final_states(program_);
    for (std::size_t i = 0; i < memory.size() && text.empty(); i++) {
      text = compared(program_, last.at(buffers_[i]), "buffer", memory[i]);
    }
    return text;
  });
}

double ScheduledProgram::most_visits() const {
  double visits = 0;
  for (const ScheduleStep& step : schedule_.steps) {
    if (!step.kernel) continue;
    const std::vector<UOp> order = toposort(step.kernel->sink);
    for (UOp u : order) {
      if (!u.is(Op::Reduce)) continue;
      double turns = 1;
      for (UOp r : order) {
        const bool is_around =
            r.is(Op::Range) && (r.loop_kind() != LoopKind::Reduce || u.src(0).varies_over(r));
        if (is_around) turns *= static_cast<double>(r.range_size());
      }
      visits += turns;
    }
  }
  return visits;
}

std::string run_alone(const FuzzProgram& program, Device& device, Chooser chooser,
                      OpeningSeed opening) {
  return guarded([&] { return ScheduledProgram(program, device, opening).run(chooser); });
}

std::string run_realized(const FuzzProgram& program, int device) {
  return guarded([&] { return realized(program, device); });
}

FuzzProgram minimised(FuzzProgram program,
                      const std::function<std::string(const FuzzProgram&)>& run) {
  auto keep_if_failing = [&](FuzzProgram candidate) {
    if (run(candidate).empty()) return false;
    program = std::move(candidate);
    return true;
  };
  // One root, and the earliest instruction that is wrong by itself.
  for (std::size_t i = 0; i < program.code.size(); i++) {
    if (!may_become_buffer(program.code[i])) continue;
    FuzzProgram candidate = program;
    candidate.roots = {static_cast<int>(i)};
    if (keep_if_failing(std::move(candidate))) break;
  }
  for (std::size_t r = program.roots.size(); r-- > 0 && program.roots.size() > 1;) {
    FuzzProgram candidate = program;
    candidate.roots.erase(candidate.roots.begin() + static_cast<std::ptrdiff_t>(r));
    keep_if_failing(std::move(candidate));
  }
  // Values in place of computations.
  for (std::size_t i = program.code.size(); i-- > 0;) {
    if (!may_become_buffer(program.code[i])) continue;
    if (std::ranges::find(program.roots, static_cast<int>(i)) != program.roots.end()) continue;
    FuzzProgram candidate = program;
    const HostTensor& data = candidate.values[i].data;
    candidate.code[i] = {.op = Op::Buffer,
                         .dtype = data.dtype,
                         .shape = data.shape,
                         .src = {},
                         .arg = {},
                         .bits = data.bits};
    candidate.values[i].error = 0;
    keep_if_failing(std::move(candidate));
  }
  return program;
}

}  // namespace croze::fuzz
