// node_set.h -- a set of nodes of one graph: what a walk has seen.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// A bit for each node id, and the nodes in the order in which they came.  To ask costs no hash and
// hardly a cache line, and the bits of a graph of a million nodes are cleared in microseconds.  Not
// to be kept over a collection, after which ids name other nodes.
class NodeSet {
 public:
  std::int64_t size() const { return static_cast<std::int64_t>(nodes_.size()); }
  bool empty() const { return nodes_.empty(); }

  bool contains(const Node* node) const {
    const std::size_t word = node->id / 64;
    return word < bits_.size() && (bits_[word] >> (node->id % 64) & 1);
  }

  // Returns whether the node is new.
  bool insert(const Node* node) {
    const std::size_t word = node->id / 64;
    if (word >= bits_.size()) bits_.resize(word + 1);
    const std::uint64_t bit = std::uint64_t{1} << (node->id % 64);
    if (bits_[word] & bit) return false;
    bits_[word] |= bit;
    nodes_.push_back(node);
    return true;
  }

  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<const Node*> nodes_;
};

}  // namespace croze
