// model.cpp -- memories, and what is dispatched over them.
//
// Weights lie on the device as they lie in the file, so that it can be read piece by piece into
// memory that is bound.  No memory that could be smaller is larger than what every device binds, so
// that few models are too large for one; an array that is larger has a memory to itself.
#include "croze/export/webgpu/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/export/size_text.h"
#include "croze/render/wgsl/caps.h"
#include "croze/render/wgsl/memory_head.h"
#include "croze/render/wgsl/wgsl.h"

namespace croze::web {
namespace {

using exporting::Array;
using exporting::Call;
using exporting::Place;

constexpr std::int64_t bytes_bound_everywhere = 128 << 20;
constexpr std::int64_t groups_along_axis = 65'535;

Caps make_machine() {
  Caps caps = wgsl::caps_of({});
  caps.device = "WEBGPU";
  caps.architecture = "a browser";
  return caps;
}

const Caps& machine(int /*device*/) {
  static const Caps caps = make_machine();
  return caps;
}

std::int64_t aligned(std::int64_t bytes) {
  const std::int64_t alignment = machine(0).alignment;
  return checked_add(bytes, alignment - 1) & -alignment;
}

// A size over the variables of a kernel, given these.
LaunchSize with_variables(const LaunchSize& size, const std::vector<LaunchSize>& variables) {
  std::vector<std::string> words = exporting::words_of(size);
  bool is_open = false;
  for (std::string& word : words) {
    if (word[0] != 'v') continue;
    const LaunchSize& given = variables.at(static_cast<std::size_t>(std::stoi(word.substr(1))));
    word = given.text();
    is_open = is_open || !given.is_constant();
  }
  const LaunchSize result = LaunchSize::parse(fmt::format("{}", fmt::join(words, " ")));
  return is_open ? result : LaunchSize(result.value({}));
}

class WebModelMaker {
 public:
  explicit WebModelMaker(exporting::Model model) {
    static_cast<exporting::Model&>(model_) = std::move(model);
  }

  WebModel make() {
    model_.file = exporting::weights_file(model_, machine(0).alignment);
    place_file();
    place_state();
    for (const Array& a : model_.inputs) model_.inputs_at.push_back(alone(a.bytes()));
    for (const Array& a : model_.outputs) model_.outputs_at.push_back(alone(a.bytes()));
    if (model_.arena_bytes > 0) model_.arena_at = alone(model_.arena_bytes);
    for (const exporting::CallSequence& sequence : model_.sequences) {
      ensure(sequence.blocks.empty(), "a sequence of an export runs by blocks");
      for (const Call& call : sequence.calls) add_dispatch(call);
    }
    find_needs();
    return std::move(model_);
  }

 private:
  // ---- memory ----

  Placed alone(std::int64_t bytes) {
    model_.memories.push_back(aligned(bytes));
    return {static_cast<int>(model_.memories.size()) - 1, 0};
  }

  // The next `bytes` bytes: in the last memory, or, if that would become too large, in a new one.
  Placed next(std::int64_t bytes, bool begins_anew) {
    const bool fits = !begins_anew && model_.memories.back() + bytes <= bytes_bound_everywhere;
    if (!fits) return alone(bytes);
    const Placed at{static_cast<int>(model_.memories.size()) - 1, model_.memories.back()};
    model_.memories.back() = aligned(at.offset + bytes);
    return at;
  }

  // The arrays stand in the file in this order, each at the next multiple of the alignment.
  void place_file() {
    next(static_cast<std::int64_t>(sizeof model_.file.tag), true);
    const auto place_all = [&](const std::vector<std::int64_t>& offsets,
                               const std::vector<Array>& arrays, std::vector<Placed>& places) {
      for (std::size_t i = 0; i < arrays.size(); i++) {
        places.push_back(offsets[i] < 0 ? Placed{} : next(arrays[i].bytes(), false));
      }
    };
    place_all(model_.file.weights, model_.weights, model_.weights_at);
    place_all(model_.file.state, model_.state, model_.start_at);
    model_.file_memories = static_cast<int>(model_.memories.size());
  }

  void place_state() {
    for (const Array& a : model_.state) {
      model_.state_at.push_back(next(a.bytes(), model_.state_at.empty()));
    }
  }

  // ---- dispatches ----

  void add_dispatch(const Call& call) {
    const LinearProgram& program = model_.programs[static_cast<std::size_t>(call.program)];
    const wgsl::Module& module = module_of(call.program);
    std::vector<wgsl::Piece> buffers;
    for (const exporting::View& view : call.buffers) {
      const Placed at = model_.placed(view.place);
      buffers.push_back({static_cast<std::uint64_t>(at.memory),
                         static_cast<std::uint64_t>(at.offset),
                         static_cast<std::uint64_t>(view.bytes)});
    }
    wgsl::Binding binding =
        wgsl::bind_slots(module.slots, buffers, static_cast<std::uint64_t>(machine(0).alignment));
    Dispatch& dispatch = model_.dispatches.emplace_back();
    dispatch.module = module_number(call.program, binding.memory_of);
    dispatch.numbers = numbers_of(program.info, call, binding.offsets);
    dispatch.pieces = std::move(binding.pieces);
  }

  static std::vector<LaunchSize> numbers_of(const ProgramInfo& info, const Call& call,
                                            const std::vector<std::int64_t>& offsets) {
    std::vector<LaunchSize> numbers;
    std::int64_t groups = 1;
    for (const LaunchSize& along : info.launch.groups) {
      numbers.push_back(with_variables(along, call.variables));
      if (numbers.back().is_constant()) groups = checked_mul(groups, numbers.back().value({}));
    }
    check(groups <= groups_along_axis * groups_along_axis,
          "kernel {} of an export has {} groups, WebGPU has {} at most", info.name, groups,
          groups_along_axis * groups_along_axis);
    numbers.emplace_back(0);
    for (std::int64_t offset : offsets) numbers.emplace_back(offset);
    for (const LaunchSize& variable : call.variables) numbers.push_back(variable);
    numbers.resize(
        static_cast<std::size_t>(wgsl::count_numbers(info.num_buffers, info.num_variables)), 0);
    return numbers;
  }

  const wgsl::Module& module_of(int program) {
    const auto [at, is_new] = parsed_.try_emplace(program);
    if (is_new) {
      const WgslRenderer renderer;
      at->second =
          wgsl::parse_module(renderer.render(model_.programs[static_cast<std::size_t>(program)]));
    }
    return at->second;
  }

  int module_number(int program, const std::vector<int>& memory_of) {
    const auto [at, is_new] =
        numbers_.try_emplace({program, memory_of}, static_cast<int>(model_.modules.size()));
    if (!is_new) return at->second;
    const std::string& name = model_.programs[static_cast<std::size_t>(program)].info.name;
    const wgsl::Module& module = module_of(program);
    model_.modules.push_back({name, WgslRenderer::entry(name),
                              wgsl::memory_head(module.slots, memory_of) + module.rest});
    return at->second;
  }

  // ---- what the device must have ----

  void find_needs() {
    Needs& needs = model_.needs;
    std::int64_t results = 0;  // all of them, or all of the state, are read at once
    for (const Array& a : model_.outputs) results += aligned(a.bytes());
    std::int64_t state = 0;
    for (const Array& a : model_.state) state += aligned(a.bytes());
    needs.buffer_bytes = std::max(results, state);
    for (std::int64_t bytes : model_.memories) {
      needs.buffer_bytes = std::max(needs.buffer_bytes, bytes);
    }
    for (const Dispatch& dispatch : model_.dispatches) {
      needs.storage_buffers = std::max(needs.storage_buffers, std::ssize(dispatch.pieces));
      for (const wgsl::Piece& piece : dispatch.pieces) {
        needs.binding_bytes = std::max(needs.binding_bytes, static_cast<std::int64_t>(piece.bytes));
      }
    }
    // Kernels count elements and bytes of what is bound in 32 bits.
    check(needs.binding_bytes <= INT32_MAX,
          "a kernel of an export is given {} bytes of memory in one piece, WebGPU has {} at most",
          needs.binding_bytes, INT32_MAX);
  }

  WebModel model_;
  std::map<int, wgsl::Module> parsed_;                       // by number of the program
  std::map<std::pair<int, std::vector<int>>, int> numbers_;  // of modules
};

}  // namespace

Placed WebModel::placed(const exporting::Place& place) const {
  const auto number = static_cast<std::size_t>(place.number);
  Placed at = arena_at;
  switch (place.kind) {
    case Place::Kind::Input: at = inputs_at[number]; break;
    case Place::Kind::Output: at = outputs_at[number]; break;
    case Place::Kind::Weight: at = weights_at[number]; break;
    case Place::Kind::State: at = state_at[number]; break;
    case Place::Kind::Arena: break;
  }
  at.offset += place.offset;
  return at;
}

WebModel make_web_model(const StepRecordings& step, const WebGpuExportOptions& options) {
  return WebModelMaker(exporting::make_model(step,
                                             {.name = options.name,
                                              .inputs = options.inputs,
                                              .outputs = options.outputs,
                                              .tensors = options.tensors,
                                              .open_sizes = options.open_sizes},
                                             machine))
      .make();
}

}  // namespace croze::web
