// slide_windows.cpp -- short sums over windows of a picture.
//
//     for c:  for y:  for x:  out[c, y, x] = sum over ky, kx of in[c, y + ky, x + kx] * w[c, ky,
//     kx]
//
// reads each element as often as a window has places, under a gate for what lies beyond the border.
// Copied to a tile with zeros for a border, it is read under the gate once.  Some lines of results
// at a time, each a vector, share the lines that their windows have in common, and the weights:
//
//     for c:  tile = in[c] and its border
//       for y / 4:  for x / 16:  for y % 4:  out[c, y, x] = sum of tile[y + ky, x + kx] * ..
//
// Where every other element is read, the tile is still as it lies in memory: two vectors and a
// shuffle of them cost less than lanes by themselves.
#include "croze/codegen/choose/pictures/slide_windows.h"

#include <algorithm>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/stage.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

constexpr std::int64_t most_places = 64;  // of a window
constexpr std::int64_t most_step = 2;     // from one window to the next
constexpr std::int64_t most_lines = 8;    // of results at a time
constexpr std::int64_t some_lines = 4;

class Windows {
 public:
  explicit Windows(KernelState& k)
      : k_(k), machine_(k.caps()), full_(full_lanes(k.sink, k.caps())) {}

  bool run() {
    if (!find_reduction() || !find_operand()) return false;
    find_lines();
    cut_blocks();
    cut_lines();
    if (is_short()) columns_ = pad(k_, columns_, lanes_);
    if (!try_stage(k_, operand(), tile_loops(), Space::Thread, lanes_)) return false;
    cut_columns();
    arrange();
    bind(k_, lane_, LoopKind::Lane);
    if (lines_) bind(k_, lines_, LoopKind::Unroll);
    unroll();
    return true;
  }

 private:
  bool find_reduction() {
    const std::vector<UOp> all = reduces(k_.sink);
    if (all.size() != 1 || k_.sink.num_src() != 1 || k_.loops.empty()) return false;
    if (!is_at_full_depth(k_, all[0]) || loads_what_it_stores(k_.sink)) return false;
    window_ = closed_ranges(all[0]);
    columns_ = k_.loops.back();
    const bool open = std::ranges::any_of(window_, &UOp::is_open);
    return !open && iterations(window_) <= most_places && can_be_cut(columns_) &&
           along(k_.sink.src(0).src(0), columns_) == Along::Contiguous && choose_lanes();
  }

  static bool can_be_cut(UOp loop) { return is_parallel(loop) && !loop.is_open(); }

  // All of a register, or as many as a short line takes.
  bool choose_lanes() {
    lanes_ = full_;
    while (lanes_ / 2 >= columns_.range_size()) lanes_ /= 2;
    const std::int64_t vectors = (columns_.range_size() + lanes_ - 1) / lanes_;
    return lanes_ >= MachineModel::least_lanes &&
           static_cast<double>(columns_.range_size()) >=
               machine_.least_used * static_cast<double>(vectors * lanes_);
  }

  UOp reduction() const { return reduces(k_.sink)[0]; }

  // What is read in windows that overlap: columns, and places of a window, are steps along the same
  // lines.
  bool find_operand() {
    UOp found;
    for (UOp load : loads(reduction().src(0))) {
      if (!is_window(load.src(0))) continue;
      if (found) return false;
      found = load;
    }
    if (!found) return false;
    buffer_ = found.src(0).src(0);
    // Every other place of a padded line has a gate of its own.
    return !is_short() || along(found.src(0), columns_) == Along::Contiguous;
  }

  bool is_window(UOp place) const {
    const Stride s = stride_over(place.src(1), columns_);
    if (!place.src(0).is(Op::Param) || !s.affine || s.step < 1 || s.step > most_step) return false;
    return std::ranges::any_of(window_, [&](UOp r) {
      const Stride w = stride_over(place.src(1), r);
      return w.affine && w.step > 0 && w.step < columns_.range_size() * s.step &&
             w.step * (r.range_size() - 1) >= s.step;
    });
  }

  // The load of the operand, as the kernel is now.
  UOp operand() const {
    for (UOp load : loads(reduction().src(0))) {
      if (load.src(0).src(0) == buffer_) return load;
    }
    return UOp();
  }

  // The loop over lines whose windows overlap, too; null if there is none.
  void find_lines() {
    const UOp index = operand().src(0).src(1);
    for (UOp loop : k_.loops) {
      const Stride s = stride_over(index, loop);
      if (loop == columns_ || !can_be_cut(loop) || !s.affine || s.step == 0) continue;
      if (std::ranges::any_of(window_, [&](UOp r) {
            const Stride w = stride_over(index, r);
            const std::int64_t reach = w.step * (r.range_size() - 1);
            return w.affine && w.step >= columns_.range_size() && reach >= s.step;
          })) {
        lines_ = loop;
      }
    }
  }

  // The tile stays in the L1 cache: of a large picture it holds some lines.
  void cut_blocks() {
    if (!lines_) return;
    for (std::int64_t blocks = 1; blocks < lines_.range_size(); blocks++) {
      if (lines_.range_size() % blocks != 0) continue;
      KernelState tried = k_;
      const UOp whole = lines_;
      if (blocks > 1) lines_ = split(k_, lines_, lines_.range_size() / blocks).inner;
      if (tile_bytes(operand(), tile_loops()) <= machine_.near_bytes) return;
      k_ = std::move(tried);
      lines_ = whole;
    }
  }

  void cut_lines() {
    if (!lines_) return;
    const std::int64_t size = lines_.range_size(), even = largest_divisor(size, most_lines);
    if (even == size) return;
    const SplitRange parts = even >= some_lines || size <= some_lines
                                 ? split(k_, lines_, even)
                                 : split_overlapping(k_, lines_, some_lines);
    lines_ = parts.inner.is(Op::Range) ? parts.inner : UOp();
    line_loop_ = parts.outer;
  }

  // Lines shorter than a vector are padded, and the tile with them, so that it is read without a
  // mask.
  bool is_short() const { return columns_.range_size() < lanes_; }

  void cut_columns() {
    const SplitRange parts = can_cut(columns_, lanes_) ? split(k_, columns_, lanes_)
                                                       : split_overlapping(k_, columns_, lanes_);
    lane_ = parts.inner;
    if (parts.outer.is(Op::Range)) column_loop_ = parts.outer;
  }

  void arrange() {
    std::vector<UOp> order;
    const UOp last[] = {line_loop_, column_loop_, lines_, lane_};
    for (UOp r : k_.loops) {
      if (std::ranges::find(last, r) == std::end(last)) order.push_back(r);
    }
    for (UOp r : last) {
      if (r) order.push_back(r);
    }
    if (order != k_.loops) reorder(k_, order);
  }

  // Lines, then places of a line.
  std::vector<UOp> tile_loops() const {
    std::vector<UOp> loops;
    const auto add = [&](UOp r) {
      if (r && r.is(Op::Range)) loops.push_back(r);
    };
    add(line_loop_);
    add(lines_);
    for (UOp r : window_) add(r);
    add(columns_);
    return loops;
  }

  void unroll() {
    std::int64_t copies = lines_ ? lines_.range_size() : 1;
    for (std::size_t i = window_.size(); i-- > 0;) {
      copies *= window_[i].range_size();
      if (copies > machine_.most_unrolled) return;
      bind(k_, window_[i], LoopKind::Unroll);
    }
  }

  KernelState& k_;
  const MachineModel machine_;
  const std::int64_t full_;
  std::int64_t lanes_ = 1;
  std::vector<UOp> window_;  // loops of the reduction
  UOp buffer_;               // of the operand
  UOp columns_, lane_, column_loop_, lines_, line_loop_;
};

}  // namespace

bool slide_windows(KernelState& k) {
  if (k.caps().vector_bytes < 16 || work_of(k.sink) < MachineModel::least_work) return false;
  KernelState slid = k;
  if (!Windows(slid).run()) return false;
  k = std::move(slid);
  return true;
}

}  // namespace croze
