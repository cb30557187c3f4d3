// contents.h -- internal to tensor/: what a tensor holds between two assignments, by number.
//
// Nodes change their names when they are computed and are dropped when they are not needed; a
// number stays.  So what is remembered of histories that have been dropped is said in these.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/base/hash.h"

namespace croze {

struct Contents {
  std::int64_t tensor = 0;   // one number for each that is ever made
  std::int64_t version = 0;  // how often it had been assigned to

  auto operator<=>(const Contents&) const = default;
};

// Ascending, of each tensor the last contents only.  Shared; null if there are none.
using ContentsSet = std::shared_ptr<const std::vector<Contents>>;

ContentsSet set_of(std::vector<Contents> contents);
ContentsSet merged(const ContentsSet& a, const ContentsSet& b);

// Keeps equal sets once, and what has been merged before.
class ContentsPool {
 public:
  ContentsSet shared(const ContentsSet& set);
  ContentsSet merged(const ContentsSet& a, const ContentsSet& b);
  // The set without the tensors that are not among these, which are the same at every call.
  ContentsSet only(const ContentsSet& set, const FlatSet<std::int64_t>& tensors);

 private:
  struct Pair {
    const void *a, *b;

    bool operator==(const Pair&) const = default;
    std::uint64_t hash() const { return hash_mix(Hash<const void*>{}(a), Hash<const void*>{}(b)); }
  };
  // Its operands live as long as it does: their addresses are its key.
  struct Merged {
    ContentsSet a, b, result;
  };

  FlatMap<std::uint64_t, ContentsSet> sets_;  // by hash; of two with one hash the first
  FlatMap<Pair, Merged> merged_;
};

}  // namespace croze
