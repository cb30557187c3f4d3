// open_sizes.h -- internal to export/: sizes that stay parameters.
//
// A step records its function anew for each size, and a graph for all of them is made of recordings
// at several (schedule/sizes/open_graph.h).  In a replay each further recording is compared with
// it; an export records nothing, so what was exported holds for all sizes if it does for those
// that the step was called with.
#pragma once

#include <vector>

#include "croze/jit/recording.h"
#include "croze/schedule/sizes/open_graph.h"

namespace croze::exporting {

// The graph for all sizes, and the number in the last recording of each of its inputs.
struct OpenForm {
  OpenGraph graph;
  std::vector<int> inputs;
};
// Throws Error if the recordings have no such graph, or do not show what depends on a size.
OpenForm open_form(const StepRecordings& step);

}  // namespace croze::exporting
