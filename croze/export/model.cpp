// model.cpp -- from what a step has recorded to calls of kernels over named memory.
//
// The arena of a run holds, one after the other: the temporaries of the schedule, copies of inputs
// that the step assigns to, and what the nests of a sequence pass to each other, which is one piece
// for all, because one kernel runs at a time.
#include "croze/export/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/export/open_sizes.h"
#include "croze/export/programs.h"
#include "croze/run/devices.h"
#include "croze/run/observers.h"
#include "croze/run/random_state.h"
#include "croze/schedule/memory/memory_plan.h"

namespace croze::exporting {
namespace {

// Where sizes are open, memory is planned for the greatest.
Schedule scheduled(const CanonicalGraph& graph, const CapsOf& machine) {
  const ScheduleContext context{.caps = machine,
                                .default_device = default_device(),
                                .fuse = Options::flag(Option::Fusion),
                                .memory_budget = Options::integer(Option::MemoryBudget)};
  Schedule schedule = make_schedule(graph, context);
  for (const ScheduleStep& step : schedule.steps) {
    check(step.kernel != nullptr, "a step that copies between devices cannot be exported");
  }
  if (!graph.variables.empty()) plan_memory(schedule, context);
  check(schedule.arenas.size() <= 1, "a step that uses several devices cannot be exported");
  return schedule;
}

class ModelMaker {
 public:
  // `open`: the step's graph for all sizes, if it stays open.
  ModelMaker(const StepRecordings& step, const OpenForm* open, const ModelOptions& options,
             const CapsOf& machine)
      : recording_(step),
        step_(step.last),
        open_(open),
        options_(options),
        machine_(machine(0)),
        schedule_(scheduled(open ? open->graph.graph : step_.graph, machine)),
        names_(options.reserved),
        fields_(options.reserved),
        programs_(machine_) {
    model_.name = options.name;
    if (!schedule_.arenas.empty()) model_.arena_bytes = schedule_.arenas[0].bytes;
    for (const std::string& taken : options.taken) names_.reserve(taken);
  }

  Model make() {
    add_sizes();
    add_ports();
    for (const StepRecording::Place& p : step_.places) recorded_.push_back(place_of_input(p));
    input_places_ = recorded_;
    if (open_) {
      std::ranges::transform(open_->inputs, input_places_.begin(),
                             [&](int i) { return recorded_[static_cast<std::size_t>(i)]; });
    }
    add_random_keys();
    find_results();
    place_blocks();
    for (const ScheduleLaunch& launch : schedule_.launches) add_calls(launch);
    model_.programs = programs_.take();
    return std::move(model_);
  }

 private:
  // ---- sizes ----

  void add_sizes() {
    if (!open_) return;
    for (std::size_t i = 0; i < recording_.dims.size(); i++) {
      const OpenBounds& b = open_->graph.bounds[i];
      const std::string& label = recording_.dims[i].name();
      model_.sizes.push_back(
          {names_.unique(label), label, b.least, b.most, b.multiple, recording_.last_sizes[i]});
    }
  }

  // The array with the sizes that it has open.
  void open_input(Array& array, const std::vector<int>& dims) {
    array.example = array.shape;
    for (int axis = 0; axis < array.shape.size(); axis++) {
      const int dim = dims[static_cast<std::size_t>(axis)];
      if (dim < 0) {
        array.sizes.emplace_back(array.shape[axis]);
        continue;
      }
      const OpenSize& size = model_.sizes[static_cast<std::size_t>(dim)];
      array.shape[axis] = size.most;
      array.sizes.push_back(LaunchSize::parse(fmt::format("v{} {} *", dim, size.multiple)));
    }
  }

  void open_output(Array& array, UOp root) {
    ensure(root.rank() == array.shape.size(), "a result of an export has another shape");
    array.example = array.shape;
    for (int axis = 0; axis < root.rank(); axis++) {
      const Extent size = root.extent(axis);
      array.shape[axis] = size.most();
      array.sizes.push_back(size.is_open() ? LaunchSize::of(size.expression())
                                           : LaunchSize(size.number()));
    }
  }

  // ---- arrays ----

  void add_ports() {
    model_.inputs = ports(step_.inputs, options_.inputs, "input");
    model_.outputs = ports(step_.results, options_.outputs, "output");
    if (!open_) return;
    for (std::size_t i = 0; i < model_.inputs.size(); i++) {
      open_input(model_.inputs[i], recording_.dims_of_inputs[i]);
    }
    for (std::size_t i = 0; i < model_.outputs.size(); i++) {
      open_output(model_.outputs[i], open_->graph.graph.roots[i]);
    }
  }

  std::vector<Array> ports(const std::vector<StepRecording::Value>& values,
                           const std::vector<std::string>& labels, std::string_view kind) {
    check(labels.empty() || labels.size() == values.size(),
          "an export names {} {}s of a step that has {}", labels.size(), kind, values.size());
    std::vector<Array> arrays;
    for (std::size_t i = 0; i < values.size(); i++) {
      const std::string label = labels.empty() ? fmt::format("{}{}", kind, i) : labels[i];
      check(values[i].shape.numel() > 0, "{} \"{}\" of an export has no elements: shape {}", kind,
            label, to_text(values[i].shape));
      arrays.push_back({names_.unique(label), label, values[i].shape, values[i].dtype});
    }
    return arrays;
  }

  Place place_of_input(const StepRecording::Place& p) {
    const auto number = static_cast<std::size_t>(&p - step_.places.data());
    if (p.input < 0) return place_of_tensor(p, step_.graph.buffers[number]);
    const Place given{Place::Kind::Input, p.input, 0};
    if (!p.is_written) return given;
    // What the step writes is not what it was given.
    const Array& input = model_.inputs[static_cast<std::size_t>(p.input)];
    const Place copy = more_arena(input.bytes());
    model_.copies_in.push_back({copy, given});
    return copy;
  }

  Place place_of_tensor(const StepRecording::Place& p, UOp buffer) {
    const auto number = static_cast<int>(&p - step_.places.data());
    const bool is_state =
        p.is_written || std::ranges::find(step_.random_keys, number) != step_.random_keys.end();
    std::vector<Array>& list = is_state ? model_.state : model_.weights;
    const std::string label = name_in(options_.tensors, p.owner);
    Array array{
        is_state ? fields_.unique(label.empty() ? fmt::format("state{}", list.size()) : label)
                 : names_.unique("weight_" + (label.empty() ? std::to_string(list.size()) : label)),
        label, p.owner.shape(), buffer.dtype(), p.contents};
    const bool is_whole =
        p.owner.dtype() == buffer.dtype() && array.shape.numel() == buffer.buffer_elements();
    if (!is_whole) array.shape = {buffer.buffer_elements()};
    list.push_back(std::move(array));
    return {is_state ? Place::Kind::State : Place::Kind::Weight, static_cast<int>(list.size()) - 1,
            0};
  }

  void add_random_keys() {
    const RandomState random = random_state();
    model_.random_keys.seed = random.seed;
    model_.random_keys.draws = random.draws;
    for (int place : step_.random_keys) {
      model_.random_keys.state.push_back(recorded_[static_cast<std::size_t>(place)].number);
    }
  }

  // A buffer that is several results is written as the first and copied to the others.
  void find_results() {
    output_places_.resize(schedule_.buffers.size());
    for (std::size_t i = 0; i < model_.outputs.size(); i++) {
      const int buffer = schedule_.results[i];
      ensure(buffer >= 0, "result {} of an export has no buffer", i);
      Place& place = output_places_[static_cast<std::size_t>(buffer)];
      const Place output{Place::Kind::Output, static_cast<int>(i), 0};
      if (place.kind != Place::Kind::Output) {
        place = output;
      } else {
        model_.copies_out.push_back({output, place});
      }
    }
  }

  // ---- the arena ----

  Place more_arena(std::int64_t bytes) {
    const std::int64_t alignment = machine_.alignment;
    const std::int64_t offset = checked_add(model_.arena_bytes, alignment - 1) & -alignment;
    model_.arena_bytes = checked_add(offset, bytes);
    return {Place::Kind::Arena, -1, offset};
  }

  void place_blocks() {
    std::int64_t bytes = 0;
    for (const ScheduleSequence& s : schedule_.sequences) bytes = std::max(bytes, s.block_bytes);
    if (bytes > 0) block_offset_ = more_arena(bytes).offset;
  }

  // ---- calls ----

  View view_of(int number, std::int64_t offset) {
    const auto index = static_cast<std::size_t>(number);
    const ScheduleBuffer& b = schedule_.buffers[index];
    View view{{}, b.bytes() - offset};
    switch (b.kind) {
      case ScheduleBuffer::Kind::Input:
        view.place = input_places_[static_cast<std::size_t>(b.input)];
        break;
      case ScheduleBuffer::Kind::Output: view.place = output_places_[index]; break;
      case ScheduleBuffer::Kind::Temporary: view.place.offset = b.arena_offset; break;
      case ScheduleBuffer::Kind::Block: view.place.offset = block_offset_ + b.arena_offset; break;
    }
    view.place.offset += offset;
    if (view.place.kind == Place::Kind::Weight) {
      model_.weights[static_cast<std::size_t>(view.place.number)].is_used = true;
    }
    return view;
  }

  Call call_of(const ScheduleStep& step) {
    Call call{programs_.add(*step.kernel), {}, {}};
    for (int v : step.variables) {
      call.variables.push_back(LaunchSize::parse(fmt::format("v{}", v)));
    }
    for (std::int64_t number : step.own_variables) call.variables.emplace_back(number);
    for (std::size_t i = 0; i < step.buffers.size(); i++) {
      call.buffers.push_back(view_of(step.buffers[i], step.offsets[i]));
    }
    return call;
  }

  void add_calls(const ScheduleLaunch& launch) {
    for (int i = launch.first; i < launch.last;) {
      const ScheduleChain chain = chain_at(schedule_, i, launch.last);
      CallSequence& sequence = model_.sequences.emplace_back();
      if (chain.sequence) sequence.blocks = chain.sequence->blocks;
      for (; i < chain.last; i++) {
        sequence.calls.push_back(call_of(schedule_.steps[static_cast<std::size_t>(i)]));
      }
    }
  }

  const StepRecordings& recording_;
  const StepRecording& step_;
  const OpenForm* open_;  // null: all sizes are closed
  const ModelOptions& options_;
  const Caps& machine_;
  Schedule schedule_;
  Model model_;
  Names names_, fields_;  // of parameters and weights, and of the fields of the state
  ProgramTable programs_;
  std::vector<Place> recorded_;       // by number of the recording's buffer
  std::vector<Place> input_places_;   // by number of the graph's buffer
  std::vector<Place> output_places_;  // by number of the schedule's buffer
  std::int64_t block_offset_ = 0;
};

}  // namespace

bool is_zero(const Array& array) {
  return std::ranges::all_of(array.contents, [](std::byte b) { return b == std::byte{0}; });
}

const Array& Model::copied(const Copy& copy) const {
  const bool is_input = copy.from.kind == Place::Kind::Input;
  return is_input ? inputs[static_cast<std::size_t>(copy.from.number)]
                  : outputs[static_cast<std::size_t>(copy.to.number)];
}

Model make_model(const StepRecordings& step, const ModelOptions& options, const CapsOf& machine) {
  check(is_identifier(options.name, options.reserved),
        "the name of an export, \"{}\", is no identifier", options.name);
  const EnvironmentObservers watching;
  if (!options.open_sizes || step.dims.empty()) {
    return ModelMaker(step, nullptr, options, machine).make();
  }
  const OpenForm open = open_form(step);
  return ModelMaker(step, &open, options, machine).make();
}

}  // namespace croze::exporting
