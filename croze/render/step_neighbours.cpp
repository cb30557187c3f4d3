// step_neighbours.cpp -- loads of a block by what they have in common, in the order of their
// places.
#include "croze/render/step_neighbours.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "croze/render/llvm_index.h"

namespace croze {
namespace {

bool has_steps(UOp place, const LaneForms& forms) {
  if (!place.is(Op::Index) || place.num_src() > 2) return false;
  const LaneForm index = forms.of(place.src(1));
  return index.affine && index.period == 0 && index.lanes > 1 && index.step > 1;
}

}  // namespace

StepNeighbours::StepNeighbours(const LinearProgram& program, const LaneForms& forms,
                               const IndexSplitter& indices) {
  // Of a block, a buffer, an index but for its constant, lanes and a step.
  using Kind = std::tuple<std::int64_t, std::uint32_t, std::vector<std::uint32_t>, std::int64_t,
                          std::int64_t>;
  std::map<Kind, std::vector<std::pair<std::int64_t, UOp>>> kinds;
  std::int64_t block = 0;
  for (UOp u : program.instructions) {
    if (u.is(Op::Loop) || u.is(Op::EndLoop)) block++;
    if (!u.is(Op::Load)) continue;
    const UOp place = without_after(u.src(0));
    if (!has_steps(place, forms)) continue;
    const SplitIndex split = indices.split(place);
    std::vector<std::uint32_t> terms;
    for (UOp term : split.terms) terms.push_back(term.id());
    const LaneForm form = forms.of(place.src(1));
    kinds[{block, buffer_of(place).id(), terms, form.lanes, form.step}].emplace_back(split.offset,
                                                                                     u);
  }
  for (auto& [kind, loads] : kinds) {
    const std::int64_t step = std::get<4>(kind);
    std::ranges::sort(loads, {}, [](const auto& load) { return load.first; });
    for (auto first = loads.begin(); first != loads.end();) {
      const auto end = std::find_if(
          first, loads.end(), [&](const auto& load) { return load.first >= first->first + step; });
      for (auto load = first; load != end; load++) {
        reaches_[load->second.id()] = {load->first - first->first,
                                       std::prev(end)->first - load->first};
      }
      first = end;
    }
  }
}

}  // namespace croze
