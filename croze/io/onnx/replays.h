// replays.h -- internal to io/onnx: runs of a model that are recorded once and then launched.
//
// Recording a small model costs many times what its kernels do.  So a run is kept for each kind of
// inputs: their types, shapes and devices.  Some models look at an input to know how to go on, at a
// sampling rate or a shape.  What they look at is found where recording fails for want of it; if it
// has few elements, these become part of the kind, and else such models are recorded at every run,
// as are those that draw random numbers.
//
// A kind is recorded for each list of sizes, but compiled for all where the file leaves them open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "croze/base/shared_cache.h"
#include "croze/io/onnx/open_inputs.h"
#include "croze/io/onnx/value.h"

namespace croze::onnx {

struct Program;

// May be used by several threads at once.
class Replays {
 public:
  Replays(std::shared_ptr<const Program> program, OpenInputs open);
  ~Replays();

  // The outputs of the model for these inputs, one for each that its graph has; nothing if such a
  // run cannot be launched again.
  std::optional<std::vector<Value>> run(std::span<const Value> inputs);

 private:
  // What is known of runs with inputs of one kind.
  struct Kind {
    std::vector<std::size_t> fixed;  // inputs whose elements decide what is recorded
    bool is_plain = false;           // they are not launched again
    std::int64_t recorded = 0;
    std::int64_t launched = 0;
  };
  struct Recorded;
  struct Recorder;

  Kind kind(const std::string& key);
  void count(const std::string& key, bool is_recorded);
  void learn(const std::string& key, std::span<const std::size_t> read);
  std::shared_ptr<const Recorded> record(const std::string& key, std::span<const Value> inputs,
                                         std::span<const std::size_t> fixed);

  void record_other_sizes(std::span<const Value> inputs, std::span<const std::size_t> fixed,
                          std::span<const std::int64_t> sizes);
  void forget_comparison(std::span<const std::int64_t> sizes);
  void open_choices_of_ones(std::span<const Value> inputs, std::span<const std::size_t> fixed,
                            std::span<const std::int64_t> sizes);
  bool record_at(std::span<const Value> inputs, std::span<const std::size_t> fixed,
                 std::span<const std::int64_t> sizes, bool is_for_comparison);

  std::shared_ptr<const Program> program_;
  const OpenInputs open_;
  OpenSizes plans_;
  std::mutex mutex_;
  std::map<std::string, Kind> kinds_;
  std::set<std::vector<bool>> compared_;  // which sizes were 1
  bool has_opened_choices_ = false;
  SharedCache<Recorded> recorded_;
};

}  // namespace croze::onnx
