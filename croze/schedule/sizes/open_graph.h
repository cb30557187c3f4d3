// open_graph.h -- a tensor graph for all sizes, made of recordings of some.
//
// Two recordings of one form (sized_form.h), and what the program says of its sizes, make an open
// graph, in which expressions of Variables stand where the recordings differ; its kernels serve all
// sizes.
//
// That the expressions are right is not believed.  A third recording is served by the open graph
// only if that graph, at the sizes of the recording, is the recording: node by node, size by size.
// So a function that does something else for long texts gets kernels of its own there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "croze/device/launch_size.h"
#include "croze/schedule/schedule.h"
#include "croze/schedule/sizes/sized_form.h"

namespace croze {

// What a program says of a size that changes: least <= size <= most, size % multiple == 0.
struct OpenBounds {
  std::int64_t least = 1, most = 1, multiple = 1;

  bool operator==(const OpenBounds&) const = default;
};

// A recording: its graph, and the sizes that the program says are open, as they were in it.
struct SizedRecording {
  const CanonicalGraph* graph = nullptr;
  SizedForm form;
  std::vector<std::int64_t> declared;
};

// A graph for all sizes within bounds.
struct OpenGraph {
  // What a constant of the form is: itself, what follows from sizes, or a number of each launch.
  struct Constant {
    SizedForm::Constant constant;
    std::optional<LaunchSize> size;
    int passed = -1;
  };

  CanonicalGraph graph;
  std::string structure;
  std::vector<OpenBounds> bounds;   // of the declared sizes, or closer
  std::vector<LaunchSize> sizes;    // of the form, over the variables of the schedule
  std::vector<Constant> constants;  // of the form

  std::vector<int> inputs;  // the number of each buffer of the form

  // What a recording is that this graph is at some sizes.
  struct Instance {
    std::vector<std::int64_t> variables;  // of a launch
    std::vector<int> inputs;              // the number in the recording of each input of the graph
  };
  std::optional<Instance> instance(const SizedRecording& recording) const;
};

// The graph that all of these recordings are an instance of, over the inputs of the last.  They
// have one structure, and different declared sizes.  If there is none, or none is found, says why.
struct Opening {
  std::optional<OpenGraph> graph;
  std::string why_not;
};
Opening open_graph_of(std::span<const SizedRecording> recordings,
                      std::span<const OpenBounds> bounds);

}  // namespace croze
