// step_neighbours.h -- loads whose lanes lie between each other's.
//
// Where a loop over short rows is unrolled, lanes that go down the rows are loaded at each column:
// all of these are parts of the same few vectors.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "croze/render/lane_form.h"
#include "croze/render/llvm_index.h"
#include "croze/render/program.h"

namespace croze {

class StepNeighbours {
 public:
  // How far the first elements of loads in the same block, of the same buffer and step, whose
  // indices differ by less than a step, lie before and behind that of one of them.
  struct Reach {
    std::int64_t before = 0, behind = 0;
  };

  StepNeighbours(const LinearProgram& program, const LaneForms& forms,
                 const IndexSplitter& indices);

  Reach of(UOp load) const {
    const auto it = reaches_.find(load.id());
    return it == reaches_.end() ? Reach{} : it->second;
  }

 private:
  std::unordered_map<std::uint32_t, Reach> reaches_;  // by node id
};

}  // namespace croze
