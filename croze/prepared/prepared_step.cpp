// prepared_step.cpp -- a plan with its functions loaded.
#include "croze/prepared/prepared_step.h"

#include <algorithm>
#include <sstream>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/prepared/file.h"
#include "croze/prepared/make_plan.h"
#include "croze/prepared/plan.h"
#include "croze/run/devices.h"

namespace croze {

using namespace prepared;

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void check_processor(const Caps& here, const Plan& plan, const std::string& source) {
  const std::vector<std::string> has = words_of(here.extensions);
  for (const std::string& needed : words_of(plan.extensions)) {
    check(std::ranges::find(has, needed) != has.end(),
          "{} is compiled for processors that have {}, which this one lacks: save it again here",
          source, needed);
  }
}

std::unique_ptr<Program> load(Device& cpu, const Function& f, const std::string& source) {
  ProgramInfo info{.name = f.name,
                   .launch = {},
                   .num_buffers = static_cast<int>(f.buffers),
                   .num_variables = static_cast<int>(f.variables)};
  info.launch.scratch_bytes = f.scratch_bytes;
  try {
    return cpu.load(info, f.code);
  } catch (const std::exception& e) {
    fail({}, "{} has a function that cannot be loaded: {}", source, e.what());
  }
}

}  // namespace

LoadedStep::LoadedStep(Plan made, const std::string& source) : plan(std::move(made)) {
  check_plan(plan, source);
  Device& cpu = device(host_device());
  check_processor(cpu.caps(), plan, source);
  for (const Function& f : plan.functions) {
    programs.push_back(load(cpu, f, source));
    functions.push_back(programs.back()->host_function());
    ensure(functions.back() != nullptr, "a program of the CPU is no function");
  }
}

std::span<const StepValue> PreparedStep::inputs() const { return step_->plan.inputs; }
std::span<const StepValue> PreparedStep::results() const { return step_->plan.results; }
std::span<const StepValue> PreparedStep::state() const { return step_->plan.state; }

StepSizes PreparedStep::sizes() const {
  const Plan& plan = step_->plan;
  StepSizes sizes{.kernels = std::ssize(plan.functions),
                  .memory_bytes = plan.memory_bytes,
                  .weight_bytes = std::ssize(plan.weights)};
  for (const Function& f : plan.functions) sizes.code_bytes += std::ssize(f.code);
  for (const CallSequence& s : plan.sequences) {
    sizes.calls += std::ssize(s.calls) * (s.blocks.empty() ? 1 : count_blocks(s.blocks));
  }
  return sizes;
}

StepInstance PreparedStep::instance() const { return StepInstance(step_); }

void PreparedStep::save(const std::string& path, const SaveStepOptions& options,
                        Location at) const {
  const CallScope scope("save", at);
  write_step(step_->plan, path, options.weights);
}

PreparedStep prepare(const Step& step, const PrepareOptions& options, Location at) {
  const CallScope scope("prepare", at);
  return PreparedStep(
      std::make_shared<LoadedStep>(make_plan(step.recording(), options), "the step"));
}

PreparedStep load_step(const std::string& path, Location at) {
  const CallScope scope("load_step", at);
  return PreparedStep(std::make_shared<LoadedStep>(read_step(path), path));
}

}  // namespace croze
