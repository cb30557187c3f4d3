// whole_pictures.cpp -- short sums over windows of small pictures.
//
//     for c:  for y:  for x:  out[c, y, x] = sum over ky, kx of in[c, y + ky, x + kx] * w[c, ky,
//     kx]
//
// Places that walk lines and columns as one are gone through by vectors that know of no lines: only
// gates tell where a line ends.  With code of its own for each vector and each place of the window
// these gates are constants,
//
//     for c:  out[c, 0 .. 15]  = in[c, 0 .. 15] * w[c, 1, 1] + in[c, -1 .. 14] under a mask * ..
//             out[c, 16 .. 31] = ..
//
// so nothing is computed but products, no border is copied, and lines need not fill vectors.
#include "croze/codegen/choose/whole_pictures.h"

#include <algorithm>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/normalize.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

struct Picture {
  UOp lines, columns;  // neighbouring loops
  std::int64_t size() const { return lines.range_size() * columns.range_size(); }
};

bool is_closed_loop(UOp loop) { return is_parallel(loop) && !loop.is_open(); }

class Pictures {
 public:
  explicit Pictures(KernelState& k)
      : k_(k), machine_(k.caps()), lanes_(full_lanes(k.sink, k.caps())) {}

  bool run() {
    if (!find_window() || !find_picture() || !is_short() || !pays()) return false;
    const UOp places = merge(k_, picture_.lines, picture_.columns);
    const SplitRange parts = split(k_, pad(k_, places, lanes_), lanes_);
    bind(k_, parts.inner, LoopKind::Lane);
    if (parts.outer.is(Op::Range)) bind(k_, parts.outer, LoopKind::Unroll);
    for (UOp r : window_) bind(k_, r, LoopKind::Unroll);
    return true;
  }

 private:
  bool find_window() {
    const std::vector<UOp> all = reduces(k_.sink);
    if (all.size() != 1 || k_.sink.num_src() != 1 || !is_at_full_depth(k_, all[0])) return false;
    window_ = closed_ranges(all[0]);
    return std::ranges::none_of(window_, &UOp::is_open);
  }

  bool find_picture() {
    for (std::size_t i = k_.loops.size(); i-- > 1;) {
      picture_ = {k_.loops[i - 1], k_.loops[i]};
      if (is_picture()) return true;
    }
    return false;
  }

  // A window reaches along lines and along columns, and its borders alone tell lines apart.
  bool is_picture() const {
    if (!is_closed_loop(picture_.lines) || !is_closed_loop(picture_.columns)) return false;
    std::vector<UOp> places;
    for (UOp u : toposort(k_.sink)) {
      if (u.is(Op::Index)) places.push_back(u.src(1));
    }
    return walked_as_one(places, picture_.lines, picture_.columns) &&
           along(k_.sink.src(0).src(0), picture_.columns) == Along::Contiguous &&
           std::ranges::any_of(loads(k_.sink), [&](UOp load) { return is_window(load.src(0)); });
  }

  bool is_window(UOp place) const {
    if (along(place, picture_.columns) != Along::Contiguous) return false;
    return std::ranges::any_of(window_, [&](UOp r) {
      const Stride s = stride_over(place.src(1), r);
      return s.affine && s.step > 0 && s.step * (r.range_size() - 1) < picture_.size();
    });
  }

  std::int64_t vectors() const { return (picture_.size() + lanes_ - 1) / lanes_; }

  bool is_short() const {
    return lanes_ >= MachineModel::least_lanes &&
           vectors() * iterations(window_) <= MachineModel::most_straight;
  }

  // Beside lines by themselves, of a copy with a border: no mask there, but more vectors, and each
  // is copied.
  bool pays() const {
    const std::int64_t columns = picture_.columns.range_size();
    const std::int64_t of_lines = (columns + lanes_ - 1) / lanes_ * picture_.lines.range_size();
    const auto places = static_cast<double>(iterations(window_));
    const double copied = machine_.masked_load() + MachineModel::load + MachineModel::turn;
    const double by_lines =
        static_cast<double>(of_lines) * (places * cost_of(MachineModel::load) + copied);
    return static_cast<double>(vectors()) * places * cost_of(machine_.masked_load()) < by_lines;
  }

  // Of a multiply-add beside its load.
  static double cost_of(double load) {
    return std::max(1.0, load) + MachineModel::not_hidden * std::min(1.0, load);
  }

  KernelState& k_;
  const MachineModel machine_;
  const std::int64_t lanes_;
  std::vector<UOp> window_;  // loops of the reduction
  Picture picture_;
};

}  // namespace

bool take_whole_pictures(KernelState& k) {
  if (!k.caps().masked_vectors || work_of(k.sink) < MachineModel::least_work) return false;
  return Pictures(k).run();
}

}  // namespace croze
