// prepared_step.h -- captured steps that run in real time, and steps in files.
//
//     auto step = capture([&](const Tensor& image) { return net(image); });
//     step(Tensor::zeros({1, 1, 28, 28}));
//     const PreparedStep prepared = prepare(step, {.inputs = {"image"}, .results = {"scores"}});
//     StepInstance instance = prepared.instance();
//     std::ranges::copy(pixels, instance.input<float>(0).begin());
//     instance.run();
//     use(instance.result<float>(0));
//
// A replay of a captured step makes tensors, takes locks and shares the threads of the device.
// run() of an instance calls the compiled kernels one after the other on the calling thread, and
// does nothing else: it allocates nothing, takes no lock, makes no system call and throws nothing.
//
// What differs from calling the step:
//
// * Inputs and results are memory of the instance, at the same place in every run.
// * Tensors that the step assigns to (the state of a GRU, parameters and what an optimizer keeps of
//   them) are the instance's own: they start with what they hold when the step is prepared, runs
//   change them, reset() takes them back, and the tensors of the program do not change.
// * Tensors that the step only reads are copied when it is prepared, once for all instances.
// * Random numbers are those that the step would draw next, in every instance; seed() gives it
//   others.
// * The sizes are those of the last call of the step.
//
// Several threads may each run instances of their own; they share nothing that is written.
//
// save() writes all of it to a file, kernels as machine code, and load_step() makes it ready to run
// in another process, without a compiler.  The file is for this kind of processor; one that lacks
// an extension of the instruction set that the kernels may use refuses it.  A step file is a
// program: load those alone that you would run.  Files that are damaged are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/nn/state.h"

namespace croze {

struct PrepareOptions {
  // What the inputs and results are called, in order; none: input0, input1, .., result0, ..
  std::vector<std::string> inputs = {}, results = {};
  // What tensors that the step assigns to are called, nn::state_dict(net) for example.  Others are
  // state0, state1, ..
  StateDict tensors = {};
};

// A tensor in the memory of an instance: row-major, aligned to 64 bytes.
struct StepValue {
  std::string name;
  Shape shape;
  DType dtype = DType::Void;
  std::int64_t offset = 0;  // in that memory, in bytes

  std::int64_t bytes() const { return shape.numel() * size_of(dtype); }
};

// What a step consists of.  Sizes are in bytes.
struct StepSizes {
  std::int64_t kernels = 0;       // distinct functions
  std::int64_t calls = 0;         // of them in a run
  std::int64_t code_bytes = 0;    // of the functions
  std::int64_t memory_bytes = 0;  // of an instance
  std::int64_t weight_bytes = 0;  // that all instances share
};

struct LoadedStep;

// A step with memory of its own.  One thread at a time may use it.
class StepInstance {
 public:
  ~StepInstance();
  StepInstance(StepInstance&&) noexcept;
  StepInstance& operator=(StepInstance&&) noexcept;

  // Computes the results from the inputs, and the state anew.
  void run() noexcept;
  // Takes the state, and with it the random numbers, back to what they were at first.
  void reset() noexcept;
  // The runs that follow draw the random numbers of this seed.
  void seed(std::uint64_t seed) noexcept;

  // The bytes of an input, which runs leave as they are, of a result and of a tensor of the state.
  // They stay where they are as long as the instance lives.  Throw Error if there is none of this
  // number.
  std::span<std::byte> input(std::int64_t number, Location at = Location::current());
  std::span<const std::byte> result(std::int64_t number, Location at = Location::current()) const;
  std::span<std::byte> state(std::int64_t number, Location at = Location::current());

  // The same as elements.  Throw Error too if they are of another dtype.
  template <Number T>
  std::span<T> input(std::int64_t number, Location at = Location::current()) {
    check_dtype(input_value(number, at), dtype_of<T>(), at);
    return elements<T>(input(number, at));
  }
  template <Number T>
  std::span<const T> result(std::int64_t number, Location at = Location::current()) const {
    check_dtype(result_value(number, at), dtype_of<T>(), at);
    return elements<const T>(result(number, at));
  }
  template <Number T>
  std::span<T> state(std::int64_t number, Location at = Location::current()) {
    check_dtype(state_value(number, at), dtype_of<T>(), at);
    return elements<T>(state(number, at));
  }

 private:
  friend class PreparedStep;
  explicit StepInstance(std::shared_ptr<const LoadedStep> step);

  const StepValue& input_value(std::int64_t number, Location at) const;
  const StepValue& result_value(std::int64_t number, Location at) const;
  const StepValue& state_value(std::int64_t number, Location at) const;
  static void check_dtype(const StepValue& value, DType dtype, Location at);
  template <typename T, typename Bytes>
  static std::span<T> elements(Bytes bytes) {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

struct SaveStepOptions {
  // The name of a file beside that of the step for the tensors that it only reads; empty: they
  // stand in the file of the step.
  std::string weights = {};
};

// A step that is compiled and placed.  Copies are the same step.
class PreparedStep {
 public:
  explicit PreparedStep(std::shared_ptr<const LoadedStep> step) : step_(std::move(step)) {}

  std::span<const StepValue> inputs() const;
  std::span<const StepValue> results() const;
  std::span<const StepValue> state() const;
  StepSizes sizes() const;

  // Memory for a thread to run it in.  What the step only reads is read once, so that no run waits
  // for a disk.  Throws Error if there is no memory left.
  StepInstance instance() const;

  // Writes the step as it was prepared; a file that is there is replaced whole.  Throws Error if it
  // cannot be written.
  void save(const std::string& path, const SaveStepOptions& options = {},
            Location at = Location::current()) const;

 private:
  std::shared_ptr<const LoadedStep> step_;
};

// Compiles a step that has been called for one thread.  Throws Error if it was not called, if it
// uses another device than CPU, or if options name more or fewer inputs or results than it has.
PreparedStep prepare(const Step& step, const PrepareOptions& options = {},
                     Location at = Location::current());

template <typename F>
PreparedStep prepare(const Captured<F>& step, const PrepareOptions& options = {},
                     Location at = Location::current()) {
  return prepare(step.step(), options, at);
}

// A step that save() has written.  What it only reads stays in the mapped file.  Throws Error if
// the file cannot be read, is damaged or of another version, or is for a processor that has what
// this one lacks.
PreparedStep load_step(const std::string& path, Location at = Location::current());

}  // namespace croze
