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
// * Inputs and results are tensors, or vectors, arrays, maps, optionals, tuples and plain structs
//   that hold some, nested as deep as you like, with numbers and texts among them (tensor/parts.h).
// * Inputs must keep their shapes, dtypes and devices, the sizes of vectors, the keys of maps, what
//   is absent, and their numbers and texts.  A call with others throws Error, naming the part.  A
//   Tensor() in a container is absent, as an empty optional is.
// * open("input 0", 1, Dim("length", 1, 4096)) leaves a size of an input open, within bounds.  The
//   function is then run once for each size that it is called with, and what two such recordings
//   have in common is compiled once for all sizes.  A recording that is something else (because the
//   function branches on the size) is compiled by itself: what a call computes is always what the
//   function says for that size.
// * Results are new tensors at every call, and their memory is new memory, unless inputs are
//   donated: donate("input 0") lets the step compute a result into the memory of that input, or of
//   all tensors in it, if they are of one dtype and size and nothing has to be kept aside for it.
//   A donated tensor has no value after the call, whether its memory was used or not: using it is
//   an Error, which names the line.  No other tensor may be a view of it, and it may be no other
//   input and nothing that the function uses beside its inputs.  Memory of the user (from_blob) is
//   never written.
// * The function has values as inputs: what it assigns to one of them is not seen outside.  If it
//   assigns to one, no other may be the same memory; Error.
// * Other tensors that the function uses are read anew at every call: assigning to them shows.  One
//   that nobody but captured steps refers to any more, because its variable was given another
//   tensor or has ended, is an Error: the function would not find it.
// * Numbers and other C++ values, those among the results too, are fixed by the first call; what is
//   to change must be a tensor.  So must branches: the function takes the same one at every call.
// * Random numbers are drawn anew at every call, and are those that the function itself would draw.
// * Nothing can be computed inside: realize(), item() and to_vector() throw Error there, and so
//   does a captured step inside a captured function.
// * A tensor that the function stores elsewhere than in its result holds the values of the first
//   call.
// * Gradients end at results and at what the function assigns: ask for gradients inside.
// * What the function does not assign to, other tensors or the rest of one, keeps its value and its
//   gradient.
// * step().summary() and step().explanation() say what a replay does.
// * While CROZE_CHECK_NAN or CROZE_CHECK_INDICES is set the function itself runs at every call, so
//   that what they find has the lines of the function.
//
// When the function throws in the first call, its assignments are undone and the step stays
// untraced.
#pragma once

#include <any>
#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/jit/signature.h"
#include "croze/run/statistics.h"
#include "croze/schedule/explain/explanation.h"
#include "croze/tensor/parts.h"
#include "croze/tensor/tensor.h"

namespace croze {

class Donations;
class OpenAxes;
class Dim;
struct StepRecordings;
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

  // Traces the function if this is the first call, replays otherwise.  The signature is that of all
  // in which the inputs stood; another one than that of the first call throws Error.  Errors name
  // the place.
  std::vector<Tensor> run(std::span<const Tensor> inputs, const Signature& signature,
                          Function function, Location at = Location::current());

  // Leaves the size along an axis of the input at this place open.  Before the first call.
  void open(std::string_view place, std::int64_t axis, const Dim& dim,
            Location at = Location::current());

  // Donates all tensors of the inputs at this place and within it.  Before the first call.
  void donate(std::string_view place, Location at = Location::current());

  bool is_traced() const { return !traces_.empty(); }
  // What one replay does, of the sizes of the last call.  Throws Error before the first call.
  RunSummary summary() const;
  // The same launch by launch and buffer by buffer, with the reasons.
  Explanation explanation() const;
  // All that it has recorded, for recording.h.  Throws Error before the first call.
  StepRecording recording() const;
  // The same for all sizes that it was called with.  Without dims if no size is open.
  StepRecordings open_recording() const;

 private:
  struct Trace;
  struct Replay;
  std::vector<Tensor> trace(std::span<const Tensor> inputs, const Signature& signature,
                            std::span<const std::int64_t> open_sizes, Function function);
  bool find_trace(const Signature& signature);
  const Trace& last_trace(std::string_view what) const;
  Replay replay(std::span<const Tensor> inputs);
  std::vector<Tensor> run_unrecorded(std::span<const Tensor> inputs, const Signature& signature,
                                     Function function);

  std::unique_ptr<OpenAxes> open_;  // null: all sizes are closed
  std::unique_ptr<Donations> donations_;
  std::vector<std::unique_ptr<Trace>>
      traces_;  // one for each list of open sizes, the last used first
};

// A function together with the step that was traced from it.
template <typename F>
class Captured {
 public:
  explicit Captured(F function, Location at = Location::current())
      : function_(std::move(function)), at_(at) {}

  // The result of the function for these inputs.
  template <typename... Inputs>
  requires std::invocable<F&, const Inputs&...>
  auto operator()(const Inputs&... inputs) {
    using Result = std::remove_cvref_t<std::invoke_result_t<F&, const Inputs&...>>;
    const CallScope scope("captured step", at_);
    const std::tuple<const Inputs&...> all(inputs...);
    Call<Result, Inputs...> call{*this, all};
    if constexpr (!std::is_void_v<Result>) {
      check(!step_.is_traced() || form_of<Result>() != nullptr, at_,
            "a captured step was called with inputs of other types at first");
    }
    const std::vector<Tensor> results =
        step_.run(tensors_in(all), Signature::of_values(inputs...), {&call.run, &call}, at_);
    if constexpr (!std::is_void_v<Result>) return form_of<Result>()->filled(results);
  }

  // Leaves a size of an input open; before the first call.  `input` is "input 0", or
  // "input 1.tokens[2]" for a tensor in a container.
  Captured& open(std::string_view input, std::int64_t axis, const Dim& dim,
                 Location at = Location::current()) & {
    step_.open(input, axis, dim, at);
    return *this;
  }
  Captured&& open(std::string_view input, std::int64_t axis, const Dim& dim,
                  Location at = Location::current()) && {
    step_.open(input, axis, dim, at);
    return std::move(*this);
  }

  // Donates an input, or all tensors in it: the step may overwrite their memory; before the first
  // call.
  Captured& donate(std::string_view input, Location at = Location::current()) & {
    step_.donate(input, at);
    return *this;
  }
  Captured&& donate(std::string_view input, Location at = Location::current()) && {
    step_.donate(input, at);
    return std::move(*this);
  }

  const Step& step() const { return step_; }

 private:
  template <typename Result, typename... Inputs>
  struct Call {
    Captured& captured;
    const std::tuple<const Inputs&...>& inputs;

    // Runs the function over stand-ins for the tensors among the inputs.
    static std::vector<Tensor> run(void* context, std::span<const Tensor> stand_ins) {
      const Call& call = *static_cast<const Call*>(context);
      F& function = call.captured.function_;
      const auto replaced = Form<std::tuple<Inputs...>>(call.inputs).filled(stand_ins);
      if constexpr (std::is_void_v<Result>) {
        std::apply(function, replaced);
        return {};
      } else {
        const Result result = std::apply(function, replaced);
        if constexpr (std::same_as<Result, Tensor>) {
          check(result.defined(), "a captured function returned a tensor that is not defined");
        }
        call.captured.form_ = Form<Result>(result);
        return tensors_in(result);
      }
    }
  };

  template <typename Result>
  const Form<Result>* form_of() const {
    return std::any_cast<Form<Result>>(&form_);
  }

  F function_;
  Location at_;
  Step step_;
  std::any form_;  // of the results
};

// A step of `function`, which takes and returns what is listed above, or returns nothing.  Errors
// of the function name its own lines, those of calling the step the line of capture().
template <typename F>
Captured<F> capture(F function, Location at = Location::current()) {
  return Captured<F>(std::move(function), at);
}

}  // namespace croze
