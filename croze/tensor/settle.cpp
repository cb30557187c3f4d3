// settle.cpp -- what has been computed becomes known to tensors and to the past.
//
// A table says where the value of each computed node stands.  Nodes that were recorded from it are
// made anew over that value when somebody is about to look at them, and not before: most are
// dropped by then.
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/notes/call_notes.h"
#include "croze/tensor/registry.h"

namespace croze {

std::vector<UOp> Registry::resolve(std::span<const UOp> roots) {
  std::vector<UOp> result(roots.begin(), roots.end());
  if (values_.empty()) return result;
  std::vector<std::pair<UOp, UOp>> replacements;
  NodeSet seen;
  std::vector<UOp> stack = result;
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    if (!seen.insert(u.node())) continue;
    if (const UOp* value = values_.find(u.node())) {
      replacements.emplace_back(u, *value);
      continue;
    }
    for (UOp s : u.sources()) stack.push_back(s);
  }
  if (replacements.empty()) return result;
  const UOp all = substitute(graph.sink(result), replacements);
  for (std::size_t i = 0; i < result.size(); i++) result[i] = all.src(static_cast<int>(i));
  carry_notes(roots, result);
  return result;
}

void Registry::settle() {
  if (is_unsettled_) free_unseen_if_worthwhile();
  settle_records();
  settle_past();
}

void Registry::settle_records() {
  if (!is_unsettled_) return;
  std::vector<TensorRecord*> records;
  std::vector<UOp> nodes;
  for (TensorRecord* r = dependents_.next; r != &dependents_; r = r->next) {
    records.push_back(r);
    nodes.push_back(r->node);
  }
  const std::vector<UOp> left = past_.left_nodes();
  nodes.insert(nodes.end(), left.begin(), left.end());
  nodes = resolve(nodes);
  for (std::size_t i = 0; i < records.size(); i++) {
    TensorRecord& r = *records[i];
    if (r.node != nodes[i]) replace_node(r, nodes[i], r.owns_storage);
  }
  past_.rename_left(left, std::span(nodes).subspan(records.size()));
}

void Registry::settle_past() {
  if (!is_unsettled_) return;
  is_unsettled_ = false;
  // Of a history the sources: that itself has been computed is what it says.
  std::vector<UOp> nodes;
  past_.for_each_recorded([&](UOp history) {
    for (UOp s : history.sources()) nodes.push_back(s);
  });
  nodes = resolve(nodes);
  std::size_t i = 0;
  past_.for_each_recorded([&](UOp& history) {
    const auto sources = std::span<const UOp>(nodes).subspan(i, history.num_src());
    i += sources.size();
    history = graph.with_sources(history, sources);
  });
}

void Registry::forget_values() {
  settle();
  values_.clear();
}

}  // namespace croze
