// open_sizes.cpp -- recordings made one graph.
#include "croze/export/open_sizes.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"

namespace croze::exporting {
namespace {

SizedRecording recording_of(const CanonicalGraph& graph, const std::vector<std::int64_t>& sizes) {
  return {&graph, sized_form_of(graph), sizes};
}

// Where a size was always the same, nothing tells what depends on it from what does not.
void check_differ(const StepRecordings& step) {
  for (std::size_t i = 0; i < step.dims.size(); i++) {
    const bool differs = std::ranges::any_of(step.others, [&](const StepRecordings::Sized& other) {
      return other.sizes[i] != step.last_sizes[i];
    });
    check(
        differs,
        "the size {} of a step is to stay open, but every call had {}: call the step with another "
        "size before it is exported, or export it with closed sizes",
        step.dims[i].name(), step.last_sizes[i]);
  }
}

}  // namespace

OpenForm open_form(const StepRecordings& step) {
  check_differ(step);
  std::vector<OpenBounds> bounds;
  for (const Dim& d : step.dims) bounds.push_back({d.least(), d.most(), d.multiple()});
  const SizedRecording last = recording_of(step.last.graph, step.last_sizes);
  std::vector<SizedRecording> recordings;
  for (const StepRecordings::Sized& other : step.others) {
    recordings.push_back(recording_of(other.graph, other.sizes));
    check(recordings.back().form.structure == last.form.structure,
          "a step whose function does something else for other sizes cannot be exported with sizes "
          "that stay open");
  }
  recordings.push_back(last);
  Opening opening = open_graph_of(recordings, bounds);
  check(opening.graph.has_value(), "the sizes of an export cannot stay open: {}", opening.why_not);
  for (const OpenGraph::Constant& c : opening.graph->constants) {
    check(c.passed < 0,
          "a number in a step depends on its sizes in a way that an export does not see: export it "
          "with closed sizes");
  }
  std::vector<int> inputs;
  for (const SizedRecording& r : recordings) {
    std::optional<OpenGraph::Instance> instance = opening.graph->instance(r);
    check(instance.has_value(),
          "the sizes of an export cannot stay open: what the calls of the step have in common is "
          "not each of them");
    inputs = std::move(instance->inputs);
  }
  return {std::move(*opening.graph), std::move(inputs)};
}

}  // namespace croze::exporting
