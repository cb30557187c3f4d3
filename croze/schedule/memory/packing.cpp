// packing.cpp -- the lowest place first, and what fits there best.
//
// Pieces are rectangles in a plane of time and offset; how high each lies is to be chosen.  What is
// packed already has a skyline: a height for every time, which falls into stretches of equal
// height. The lowest stretch is filled next (so do E. K. Burke and others where rectangles are cut
// from a sheet, T. Sekiyama and others with memory): of the pieces whose whole life lies within it,
// the first in an order of preference stands on it; if there is none, the stretch is lost and rises
// to its lower neighbour.
//
// No order of preference is best for all.  Large areas first is nearly always within a percent of
// the bound; long lives first, or large pieces, are tried where that misses it.
//
// The pieces that wait are leaves of a k-d tree over their first and last times, so that finding
// one looks at few of the others: packing takes O(n sqrt n) at worst, and hardly more than n log n
// of what schedules hold.
#include "croze/schedule/memory/packing.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace croze {
namespace {

// Pieces that have no place yet, each with its rank in the order of preference.
class Waiting {
 public:
  Waiting(std::span<const Lifetime> pieces, std::span<const int> ranks)
      : pieces_(pieces), nodes_(4 * pieces.size()), leaves_(pieces.size()) {
    std::vector<int> all(pieces.size());
    std::iota(all.begin(), all.end(), 0);
    build(1, all, ranks, true);
  }

  // The lowest rank of a piece that lives within these times; `none` if there is no such piece.
  int best_within(int first, int last) const { return search(1, first, last, none); }

  void remove(int piece) {
    std::size_t node = leaves_[static_cast<std::size_t>(piece)];
    nodes_[node].rank = none;
    while (node /= 2)
      nodes_[node].rank = std::min(nodes_[2 * node].rank, nodes_[2 * node + 1].rank);
  }

  static constexpr int none = INT_MAX;

 private:
  // Node n has the children 2n and 2n + 1.
  struct Node {
    int least_first = INT_MAX, most_first = INT_MIN;
    int least_last = INT_MAX, most_last = INT_MIN;
    int rank = none;  // the lowest of those that wait
  };

  void build(std::size_t node, std::span<int> pieces, std::span<const int> ranks, bool by_first) {
    Node& n = nodes_[node];
    for (int b : pieces) {
      const Lifetime& life = pieces_[static_cast<std::size_t>(b)];
      n.least_first = std::min(n.least_first, life.first);
      n.most_first = std::max(n.most_first, life.first);
      n.least_last = std::min(n.least_last, life.last);
      n.most_last = std::max(n.most_last, life.last);
      n.rank = std::min(n.rank, ranks[static_cast<std::size_t>(b)]);
    }
    if (pieces.size() == 1) {
      leaves_[static_cast<std::size_t>(pieces[0])] = node;
      return;
    }
    const auto half = static_cast<std::ptrdiff_t>(pieces.size() / 2);
    std::ranges::nth_element(pieces, pieces.begin() + half, {}, [&](int b) {
      const Lifetime& life = pieces_[static_cast<std::size_t>(b)];
      return by_first ? std::pair(life.first, b) : std::pair(life.last, b);
    });
    const auto middle = static_cast<std::size_t>(half);
    build(2 * node, pieces.first(middle), ranks, !by_first);
    build(2 * node + 1, pieces.subspan(middle), ranks, !by_first);
  }

  int search(std::size_t node, int first, int last, int best) const {
    const Node& n = nodes_[node];
    if (n.rank >= best || n.most_first < first || n.least_last > last) return best;
    if (n.least_first >= first && n.most_last <= last) return n.rank;
    return search(2 * node + 1, first, last, search(2 * node, first, last, best));
  }

  std::span<const Lifetime> pieces_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> leaves_;  // by piece
};

// The height at each time, as stretches of equal height.
class Skyline {
 public:
  struct Stretch {
    int first = 0, last = 0;
    std::int64_t height = 0;
  };

  explicit Skyline(int times) { insert({0, times - 1, 0}); }

  Stretch lowest() const { return by_first_.at(by_height_.begin()->second); }

  // Puts a piece on a stretch.
  void put(const Stretch& under, const Lifetime& piece) {
    erase(by_first_.find(under.first));
    if (under.first < piece.first) insert({under.first, piece.first - 1, under.height});
    insert({piece.first, piece.last, under.height + piece.bytes});
    if (piece.last < under.last) insert({piece.last + 1, under.last, under.height});
  }

  // Raises a stretch to its lower neighbour, and makes one of those that are level then.
  void raise(const Stretch& low) {
    const auto at = by_first_.find(low.first), after = std::next(at);
    const auto before = at == by_first_.begin() ? by_first_.end() : std::prev(at);
    Stretch level{low.first, low.last, INT64_MAX};
    for (auto beside : {before, after}) {
      if (beside != by_first_.end()) level.height = std::min(level.height, beside->second.height);
    }
    for (auto beside : {before, after}) {
      if (beside == by_first_.end() || beside->second.height > level.height) continue;
      level.first = std::min(level.first, beside->second.first);
      level.last = std::max(level.last, beside->second.last);
    }
    auto it = by_first_.find(level.first);
    while (it != by_first_.end() && it->first <= level.last) it = erase(it);
    insert(level);
  }

 private:
  using ByFirst = std::map<int, Stretch>;

  void insert(const Stretch& s) {
    by_first_.emplace(s.first, s);
    by_height_.emplace(s.height, s.first);
  }
  ByFirst::iterator erase(ByFirst::iterator at) {
    by_height_.erase({at->second.height, at->first});
    return by_first_.erase(at);
  }

  ByFirst by_first_;
  std::set<std::pair<std::int64_t, int>> by_height_;  // height, first
};

std::int64_t most_at_once(std::span<const Lifetime> pieces, int times) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(times) + 1, 0);
  for (const Lifetime& b : pieces) {
    change[static_cast<std::size_t>(b.first)] += b.bytes;
    change[static_cast<std::size_t>(b.last) + 1] -= b.bytes;
  }
  std::int64_t alive = 0, most = 0;
  for (std::int64_t c : change) most = std::max(most, alive += c);
  return most;
}

// What is preferred is greater.
using Preference = std::pair<double, double> (*)(const Lifetime&);

double duration(const Lifetime& b) { return static_cast<double>(b.last) - b.first + 1; }
double size(const Lifetime& b) { return static_cast<double>(b.bytes); }

constexpr Preference preferences[] = {
    [](const Lifetime& b) { return std::pair(size(b) * duration(b), size(b)); },
    [](const Lifetime& b) { return std::pair(duration(b), size(b)); },
    [](const Lifetime& b) { return std::pair(size(b), duration(b)); },
};

Packing packed_by(std::span<const Lifetime> pieces, int times, Preference preference) {
  std::vector<int> order(pieces.size()), ranks(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(),
                           [&](int b) { return preference(pieces[static_cast<std::size_t>(b)]); });
  for (std::size_t i = 0; i < order.size(); i++) {
    ranks[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  Waiting waiting(pieces, ranks);
  Skyline skyline(times);
  Packing packing;
  packing.offsets.resize(pieces.size());
  for (std::size_t placed = 0; placed < pieces.size();) {
    const Skyline::Stretch lowest = skyline.lowest();
    const int rank = waiting.best_within(lowest.first, lowest.last);
    if (rank == Waiting::none) {
      skyline.raise(lowest);
      continue;
    }
    const int chosen = order[static_cast<std::size_t>(rank)];
    const Lifetime& piece = pieces[static_cast<std::size_t>(chosen)];
    skyline.put(lowest, piece);
    waiting.remove(chosen);
    packing.offsets[static_cast<std::size_t>(chosen)] = lowest.height;
    packing.bytes = std::max(packing.bytes, lowest.height + piece.bytes);
    placed++;
  }
  return packing;
}

}  // namespace

Packing pack(std::span<const Lifetime> pieces, std::int64_t alignment) {
  if (pieces.empty()) return {};
  std::vector<Lifetime> rounded(pieces.begin(), pieces.end());
  int times = 0;
  for (Lifetime& b : rounded) {
    b.bytes = (b.bytes + alignment - 1) / alignment * alignment;
    times = std::max(times, b.last + 1);
  }
  const std::int64_t bound = most_at_once(rounded, times);
  constexpr std::int64_t near_enough = 200;  // lost, one part in so many: no other order is tried
  Packing best;
  for (Preference preference : preferences) {
    Packing packing = packed_by(rounded, times, preference);
    if (best.offsets.empty() || packing.bytes < best.bytes) best = std::move(packing);
    if (best.bytes <= bound + bound / near_enough) break;
  }
  best.lower_bound = bound;
  return best;
}

}  // namespace croze
