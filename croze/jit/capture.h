// capture.h -- a step that is traced once and replayed.
//
// Recording and scheduling a training step costs far more than launching its kernels.  capture()
// does both once:
//
//     auto step = croze::capture([&](const Tensor& images, const Tensor& labels) {
//       Tensor loss = cross_entropy(model(images), labels);
//       sgd.step(loss.gradient(sgd.parameters));
//       return loss;
//     });
//     for (...) Tensor loss = step(images, labels);
//
// The first call performs the assignments that are pending, runs the function once on stand-ins for
// the inputs, and keeps the one schedule of all that it did: the results and every assign() to a
// tensor that lives on (parameters, optimizer state, running statistics).  Later calls launch that
// schedule over the new inputs, and the function is not run again.  What follows from this:
//
// * Inputs must keep their shapes, dtypes and devices; a call with others throws Error.
// * Other tensors that the function uses are read anew at every call: assigning to them shows.
//   Numbers and other C++ values are fixed by the first call; what is to change must be a tensor.
//   So must branches: the function takes the same one at every call.
// * Random numbers are drawn anew at every call, and are those that the function itself would draw.
// * Nothing can be computed inside: realize(), item() and to_vector() throw Error there, and so
//   does a captured step inside a captured function.
// * A tensor that the function stores elsewhere than in its result holds the values of the first
//   call.
// * Results are new tensors at every call.  Gradients end at them: ask for gradients inside.
// * Tensors that the function does not assign to keep their values and their gradients.
// * step().summary() and step().explanation() say what a replay does.
// * While CROZE_CHECK_NAN or CROZE_CHECK_INDICES is set the function itself runs at every call, so
//   that what they find has the lines of the function.
//
// When the function throws in the first call, its assignments are undone and the step stays
// untraced.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/run/statistics.h"
#include "croze/schedule/explain/explanation.h"
#include "croze/tensor/tensor.h"

namespace croze {

struct StepRecording;

// Whether the calling thread is inside a function that is being captured.
bool is_capturing();

// What capture() is made of: a traced step over lists of tensors.
class Step {
 public:
  // The function to trace, as a pointer and its context, which is only used during the call.
  struct Function {
    std::vector<Tensor> (*call)(void* context, std::span<const Tensor> inputs);
    void* context;
  };

  Step();
  ~Step();
  Step(Step&&) noexcept;
  Step& operator=(Step&&) noexcept;

  // Traces the function if this is the first call, replays otherwise.  Errors name the place.
  std::vector<Tensor> run(std::span<const Tensor> inputs, Function function,
                          Location at = Location::current());

  bool is_traced() const { return trace_ != nullptr; }
  // What one replay does.  Throws Error before the first call.
  RunSummary summary() const;
  // The same launch by launch and buffer by buffer, with the reasons.
  Explanation explanation() const;
  // All that it has recorded, for recording.h.  Throws Error before the first call.
  StepRecording recording() const;

 private:
  struct Trace;
  struct Replay;
  std::vector<Tensor> trace(std::span<const Tensor> inputs, Function function);
  Replay replay(std::span<const Tensor> inputs);
  std::vector<Tensor> run_unrecorded(std::span<const Tensor> inputs, Function function);

  std::unique_ptr<Trace> trace_;
};

// A function together with the step that was traced from it.
template <typename F>
class Captured {
 public:
  explicit Captured(F function, Location at = Location::current())
      : function_(std::move(function)), at_(at) {}

  // The result of the function for these inputs: a Tensor, a std::vector<Tensor>, or nothing.
  template <std::convertible_to<const Tensor&>... Inputs>
  requires std::invocable<F&, const Inputs&...>
  auto operator()(const Inputs&... inputs) {
    using Result = std::invoke_result_t<F&, const Inputs&...>;
    const Tensor list[] = {inputs..., Tensor()};
    const std::span<const Tensor> given(list, sizeof...(Inputs));
    std::vector<Tensor> results = step_.run(given, {&call<Result, Inputs...>, &function_}, at_);
    if constexpr (std::same_as<Result, Tensor>) {
      return std::move(results[0]);
    } else if constexpr (!std::is_void_v<Result>) {
      return results;
    }
  }

  const Step& step() const { return step_; }

 private:
  template <typename Result, typename... Inputs>
  static std::vector<Tensor> call(void* context, std::span<const Tensor> inputs) {
    static_assert(std::is_void_v<Result> || std::same_as<Result, Tensor> ||
                      std::same_as<Result, std::vector<Tensor>>,
                  "a captured function returns a Tensor, a std::vector<Tensor> or nothing");
    F& function = *static_cast<F*>(context);
    const auto invoke = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return function(static_cast<const Inputs&>(inputs[I])...);
    };
    constexpr auto indices = std::index_sequence_for<Inputs...>();
    if constexpr (std::is_void_v<Result>) {
      invoke(indices);
      return {};
    } else if constexpr (std::same_as<Result, Tensor>) {
      return {invoke(indices)};
    } else {
      return invoke(indices);
    }
  }

  F function_;
  Location at_;
  Step step_;
};

// A step of `function`, which takes tensors and returns a Tensor, a std::vector<Tensor> or nothing.
// Errors of the function name its own lines, those of calling the step the line of capture().
template <typename F>
Captured<F> capture(F function, Location at = Location::current()) {
  return Captured<F>(std::move(function), at);
}

}  // namespace croze
