// lane_form.h -- how each value of a linear program varies over the lanes of its vector.
//
// Most index arithmetic moves by a constant from lane to lane.  Such a value needs no vector: its
// lane 0 and its step say it all, and they tell a contiguous access from a gather.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "croze/render/program.h"

namespace croze {

struct LaneForm {
  std::int64_t lanes = 1;  // 1: a scalar
  bool affine = true;      // lane k is lane 0 plus k * step; step 0 if all lanes are equal
  std::int64_t step = 0;
  // Lanes of a run, if they move in runs, or 0: lane k is lane 0 plus k % period * step plus
  // k / period * jump.  Without a jump the values come again.
  std::int64_t period = 0;
  std::int64_t jump = 0;

  bool is_uniform() const { return affine && step == 0 && jump == 0; }
  // The same, said in runs of so many lanes.
  LaneForm in_runs(std::int64_t run) const {
    return period == run ? *this : LaneForm{lanes, affine, step, run, step * run};
  }
  // What lane k has over lane 0.
  std::int64_t offset(std::int64_t k) const {
    return period == 0 ? k * step : k % period * step + k / period * jump;
  }
};

// A number that divides the integer in lane 0; 0 if it is 0 there.
std::int64_t multiple_in_first_lane(UOp u);

// The integer in each lane, where the number of the lane alone says it; else none.
std::vector<std::int64_t> numbers_of_lanes(UOp u);

// The forms of all instructions of a program, computed in one walk over the list.
class LaneForms {
 public:
  // `with_periods`: what moves in runs of lanes is affine, too, with a period that whoever asks for
  // it has to mind.
  explicit LaneForms(const LinearProgram& program, bool with_periods = false);

  // `node` is an instruction, or an Index or After, which have the form of what they stand for.
  LaneForm of(UOp node) const;

 private:
  LaneForm derive(UOp node) const;
  LaneForm elementwise(UOp node) const;
  LaneForm remainder(UOp node, std::int64_t lanes) const;
  LaneForm quotient(UOp node, std::int64_t lanes) const;
  std::optional<std::int64_t> period_of_sources(UOp node) const;
  void find_repeats(const LinearProgram& program);
  std::int64_t repeats(UOp load) const;

  // An operand that a matrix unit wants several times side by side is loaded so: the range of its
  // lanes, and how many times.
  std::vector<std::pair<UOp, std::int64_t>> repeated_;
  bool with_periods_;
  std::vector<LaneForm> forms_;          // by position in the list
  std::vector<std::int32_t> positions_;  // by node id, -1: not in the list
};

}  // namespace croze
