// open_sizes.h -- internal to export/: sizes that stay parameters.
//
// A step records its function anew for each size, and a graph for all of them is made of recordings
// at several (schedule/sizes/open_graph.h).  In a replay each further recording is compared with
// it; C records nothing, so what was exported holds for all sizes if it does for those that the
// step was called with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/device/launch_size.h"
#include "croze/export/model.h"
#include "croze/jit/recording.h"
#include "croze/schedule/sizes/open_graph.h"

namespace croze::plain_c {

// The graph for all sizes, and the number in the last recording of each of its inputs.
struct OpenForm {
  OpenGraph graph;
  std::vector<int> inputs;
};
// Throws Error if the recordings have no such graph, or do not show what depends on a size.
OpenForm open_form(const StepRecordings& step);

// A size over the variables of the graph, as an expression in C over the parameters.
std::string in_c(const LaunchSize& size, std::span<const OpenSize> parameters);
// What such an expression calls: where it divides, and where it takes the greater or the lesser of
// two, each of which may be long and is written once.
inline constexpr std::string_view divide_name = "croze_floor_div", remainder_name = "croze_mod";
inline constexpr std::string_view greater_name = "croze_greater", lesser_name = "croze_lesser";

}  // namespace croze::plain_c
