// contents.cpp -- sets of contents of tensors.
#include "croze/tensor/contents.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace croze {
namespace {

// Of each tensor the last, from numbers in ascending order.
ContentsSet last_of_each(std::vector<Contents> sorted) {
  std::vector<Contents> last;
  for (const Contents& c : sorted) {
    if (!last.empty() && last.back().tensor == c.tensor) last.pop_back();
    last.push_back(c);
  }
  if (last.empty()) return nullptr;
  return std::make_shared<const std::vector<Contents>>(std::move(last));
}

std::uint64_t hash_of(const std::vector<Contents>& set) {
  std::uint64_t hash = set.size();
  for (const Contents& c : set) {
    hash = hash_mix(hash, static_cast<std::uint64_t>(c.tensor));
    hash = hash_mix(hash, static_cast<std::uint64_t>(c.version));
  }
  return hash;
}

}  // namespace

ContentsSet set_of(std::vector<Contents> contents) {
  std::ranges::sort(contents);
  return last_of_each(std::move(contents));
}

ContentsSet merged(const ContentsSet& a, const ContentsSet& b) {
  if (!a || a == b) return b;
  if (!b || std::ranges::includes(*a, *b)) return a;
  if (std::ranges::includes(*b, *a)) return b;
  std::vector<Contents> all;
  std::ranges::merge(*a, *b, std::back_inserter(all));
  return last_of_each(std::move(all));
}

ContentsSet ContentsPool::shared(const ContentsSet& set) {
  if (!set) return set;
  const ContentsSet& known = *sets_.insert(hash_of(*set), set).first;
  return *known == *set ? known : set;
}

ContentsSet ContentsPool::merged(const ContentsSet& a, const ContentsSet& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  const Pair pair{a.get(), b.get()};
  if (const Merged* known = merged_.find(pair)) return known->result;
  ContentsSet result = croze::merged(a, b);
  if (result != a && result != b) result = shared(result);
  merged_.insert(pair, {a, b, result});
  return result;
}

ContentsSet ContentsPool::only(const ContentsSet& set, const FlatSet<std::int64_t>& tensors) {
  const Pair pair{set.get(), nullptr};
  if (const Merged* known = merged_.find(pair)) return known->result;
  std::vector<Contents> kept;
  for (const Contents& c : *set) {
    if (tensors.contains(c.tensor)) kept.push_back(c);
  }
  ContentsSet result = shared(last_of_each(std::move(kept)));
  merged_.insert(pair, {set, nullptr, result});
  return result;
}

}  // namespace croze
