// recording.h -- what a captured step has recorded, for whoever makes something else of it than a
// replay (export/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "croze/jit/dim.h"
#include "croze/schedule/schedule.h"
#include "croze/tensor/tensor.h"

namespace croze {

// Its own copy of everything: nothing that happens to the step or to its tensors is seen.  The
// inputs of its graph are those of the copy.
struct StepRecording {
  struct Value {
    Shape shape;
    DType dtype;
  };
  // What stands for a Buffer of the graph: an input of the step, or memory of a tensor.
  struct Place {
    int input = -1;                   // of this number; else
    Tensor owner = {};                // the tensor that owns the memory,
    std::vector<std::byte> contents;  // and what it holds now
    bool is_written = false;          // by the step; of an input, the copy that a replay makes
  };

  CanonicalGraph graph;       // the roots are the results in order, then what is assigned
  std::vector<Place> places;  // by number of the Buffer
  // Places that are drawn anew at each replay, in this order.
  std::vector<int> random_keys;
  std::vector<Value> inputs, results;
};

// What a step has recorded whose inputs have open sizes.
struct StepRecordings {
  // How one of the graphs was recorded.
  struct Sized {
    CanonicalGraph graph;
    std::vector<std::int64_t> sizes;  // by Dim
  };

  std::vector<Dim> dims;
  std::vector<std::vector<int>> dims_of_inputs;  // by input and axis; -1: closed
  StepRecording last;                            // of the last call
  std::vector<std::int64_t> last_sizes;
  std::vector<Sized> others;  // at other sizes
};

}  // namespace croze
