// replays.cpp -- which runs are alike, and what is done where one is not known yet.
#include "croze/io/onnx/replays.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "croze/base/error.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/io/onnx/interpreter.h"
#include "croze/jit/recorded_function.h"
#include "croze/run/execute.h"
#include "croze/tensor/record.h"
#include "croze/tensor/storage.h"

namespace croze::onnx {
namespace {

constexpr std::int64_t most_recorded = 32;
constexpr std::size_t most_kinds = 256;
// An input with more elements is data, and other data comes next time.
constexpr std::int64_t most_fixed_elements = 16;
// Lists of sizes that are compiled each for itself where the user says nothing of them: many
// programs have one or two, and kernels for certain sizes are faster.
constexpr int most_closed = 3;
// Recordings of one kind that may go unused: where the elements that are looked at always differ,
// keeping runs is work for nothing.
constexpr std::int64_t most_unused = 16;

void append(std::string& key, std::int64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Empty if there are inputs that are neither tensors nor nothing.
std::string key_of(std::span<const Value> inputs) {
  std::string key = run_settings();
  for (const Value& value : inputs) {
    append(key, static_cast<std::int64_t>(value.kind()));
    if (value.is_nothing()) continue;
    if (!value.is_tensor()) return {};
    const Shape shape = value.shape();
    append(key, static_cast<std::int64_t>(value.element_type()));
    append(key, value.tensor().device_index());
    append(key, shape.size());
    for (std::int64_t size : shape) append(key, size);
  }
  return key;
}

std::string key_of(const std::string& kind, std::span<const Value> inputs,
                   std::span<const std::size_t> fixed) {
  std::string key = kind;
  for (std::size_t i : fixed) {
    const std::vector<std::byte> bytes = inputs[i].tensor().to_bytes();
    append(key, static_cast<std::int64_t>(i));
    key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return key;
}

bool contains(std::span<const std::size_t> list, std::size_t i) {
  return std::ranges::find(list, i) != list.end();
}

std::vector<bool> are_one(std::span<const std::int64_t> sizes) {
  std::vector<bool> result;
  for (std::int64_t size : sizes) result.push_back(size == 1);
  return result;
}

// The same elements in memory that nobody assigns to.
Tensor copy_of(const Tensor& x) {
  return Tensor::from_bytes(x.to_bytes(), x.dtype(), x.shape(), beside(x));
}

// Numbers of the stand-ins that the tensors are computed from.
std::vector<std::size_t> read_by(std::span<const Tensor> tensors, std::span<const Tensor> all) {
  const GraphLock lock;
  std::vector<UOp> roots;
  for (const Tensor& t : tensors) roots.push_back(t.node());
  std::vector<std::size_t> read;
  for (UOp u : toposort(roots)) {
    if (!u.is(Op::Buffer)) continue;
    const auto is_it = [&](const Tensor& t) { return storage_of(t.node()) == u; };
    const auto found = std::ranges::find_if(all, is_it);
    if (found != all.end()) read.push_back(static_cast<std::size_t>(found - all.begin()));
  }
  return read;
}

}  // namespace

struct Replays::Recorded {
  RecordedFunction function;
  std::vector<std::size_t> arguments;  // inputs, as the function takes them
  std::vector<Value> outputs;          // of the recording
};

// One recording of the model at work.
struct Replays::Recorder {
  Recorder(const Program& model, std::span<const Value> given, std::span<const std::size_t> fixed)
      : program(model), inputs(given.begin(), given.end()) {
    for (std::size_t i = 0; i < inputs.size(); i++) {
      if (inputs[i].is_nothing()) continue;
      if (contains(fixed, i)) {
        inputs[i] = Value(copy_of(inputs[i].tensor()), inputs[i].element_type());
      } else {
        arguments.push_back(i);
        kinds.push_back(Body::Value::of(inputs[i].tensor()));
      }
    }
  }

  std::vector<Tensor> operator()(std::span<const Tensor> stand_ins) {
    std::vector<Value> values = inputs;
    for (std::size_t k = 0; k < arguments.size(); k++) {
      values[arguments[k]] = Value(stand_ins[k], values[arguments[k]].element_type());
    }
    Interpreter interpreter(program);
    try {
      outputs = interpreter.run(program.proto.graph, values, nullptr, program.proto.opsets);
    } catch (const Error&) {
      for (std::size_t k : read_by(interpreter.read_in_vain(), stand_ins)) {
        const std::int64_t count = stand_ins[k].numel();
        if (count <= most_fixed_elements) wanted.push_back(arguments[k]);
      }
      throw;
    }
    return tensors_of(outputs);
  }

  const Program& program;
  std::vector<Value> inputs;
  std::vector<std::size_t> arguments;
  std::vector<Body::Value> kinds;  // of the arguments
  std::vector<Value> outputs;
  std::vector<std::size_t> wanted;  // inputs whose elements the model must know
};

Replays::Replays(std::shared_ptr<const Program> program, OpenInputs open)
    : program_(std::move(program)),
      open_(std::move(open)),
      plans_(open_.bounds(), open_.are_given() ? 0 : most_closed),
      recorded_({.values = most_recorded, .weight = std::numeric_limits<std::int64_t>::max()}) {}

Replays::~Replays() = default;

// ---- what is known ----------------------------------------------------------------------------

Replays::Kind Replays::kind(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (kinds_.size() >= most_kinds && !kinds_.contains(key)) kinds_.clear();
  return kinds_[key];
}

void Replays::count(const std::string& key, bool is_recorded) {
  const std::lock_guard lock(mutex_);
  Kind& kind = kinds_[key];
  (is_recorded ? kind.recorded : kind.launched)++;
  if (kind.recorded > kind.launched + most_unused) kind.is_plain = true;
}

// After a recording that has failed.  Each time there is one more input to fix, or an end.
void Replays::learn(const std::string& key, std::span<const std::size_t> read) {
  const std::lock_guard lock(mutex_);
  Kind& kind = kinds_[key];
  const std::size_t before = kind.fixed.size();
  for (std::size_t i : read) {
    if (!contains(kind.fixed, i)) kind.fixed.push_back(i);
  }
  if (kind.fixed.size() == before) kind.is_plain = true;
}

// ---- running ----------------------------------------------------------------------------------

std::shared_ptr<const Replays::Recorded> Replays::record(const std::string& key,
                                                         std::span<const Value> inputs,
                                                         std::span<const std::size_t> fixed) {
  Recorder recorder(*program_, inputs, fixed);
  OpenRecording open;
  if (const auto sizes = open_.sizes(inputs)) {
    open = {.plans = &plans_, .sizes = *sizes};
    if (plans_.will_open()) record_other_sizes(inputs, fixed, *sizes);
  }
  try {
    RecordedFunction function(recorder.kinds, recorder, open);
    check(!function.draws_random_numbers(), "the model draws random numbers");
    if (open.plans && open_.are_given()) open_choices_of_ones(inputs, fixed, open.sizes);
    return std::make_shared<const Recorded>(
        Recorded{std::move(function), recorder.arguments, std::move(recorder.outputs)});
  } catch (const Error&) {
    learn(key, recorder.wanted);  // before anybody who waits for this hears that it has failed
    forget_comparison(open.sizes);
    throw;
  }
}

// Sizes that happen to be equal in what the user runs are told apart by a recording in which no two
// are; once for each choice of those that are 1, along which nothing repeats and nothing sums.  A
// recording may fail, because the model wants some sizes to be equal or to be what they are.
void Replays::record_other_sizes(std::span<const Value> inputs, std::span<const std::size_t> fixed,
                                 std::span<const std::int64_t> sizes) {
  {
    const std::lock_guard lock(mutex_);
    if (!compared_.insert(are_one(sizes)).second) return;
  }
  for (const std::vector<std::int64_t>& others : open_.attempts(sizes)) {
    if (record_at(inputs, fixed, others, true)) return;
  }
}

// It failed as the recording itself, for want of something.
void Replays::forget_comparison(std::span<const std::int64_t> sizes) {
  const std::lock_guard lock(mutex_);
  compared_.erase(are_one(sizes));
}

// What the user has bounded is compiled by the first run, whichever sizes are 1 in later ones.
void Replays::open_choices_of_ones(std::span<const Value> inputs,
                                   std::span<const std::size_t> fixed,
                                   std::span<const std::int64_t> sizes) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(has_opened_choices_, true)) return;
  }
  for (const std::vector<std::int64_t>& choice : open_.choices_of_ones(sizes)) {
    record_other_sizes(inputs, fixed, choice);
    record_at(inputs, fixed, choice, false);
  }
}

// False if the model cannot be recorded at these sizes.
bool Replays::record_at(std::span<const Value> inputs, std::span<const std::size_t> fixed,
                        std::span<const std::int64_t> sizes, bool is_for_comparison) {
  Recorder recorder(*program_, inputs, fixed);
  for (std::size_t k = 0; k < recorder.kinds.size(); k++) {
    recorder.kinds[k].shape = open_.shape(recorder.arguments[k], recorder.kinds[k].shape, sizes);
  }
  try {
    const Body recorded(recorder.kinds, recorder, Capturing::Computes::Constants,
                        {.plans = &plans_,
                         .sizes = {sizes.begin(), sizes.end()},
                         .is_for_comparison = is_for_comparison});
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<std::vector<Value>> Replays::run(std::span<const Value> inputs) {
  const std::string key = key_of(inputs);
  if (key.empty()) return {};
  for (;;) {
    const Kind kind = this->kind(key);
    if (kind.is_plain) return {};
    bool is_recorded = false;
    std::shared_ptr<const Recorded> recorded;
    try {
      recorded = recorded_.get(key_of(key, inputs, kind.fixed), [&](std::int64_t&) {
        is_recorded = true;
        return record(key, inputs, kind.fixed);
      });
    } catch (const Error&) {
      continue;  // what was wrong is known now; of bad inputs a plain run tells
    }
    count(key, is_recorded);
    std::vector<Tensor> arguments;
    for (std::size_t i : recorded->arguments) arguments.push_back(inputs[i].tensor());
    return with_tensors(recorded->outputs, recorded->function(arguments));
  }
}

}  // namespace croze::onnx
