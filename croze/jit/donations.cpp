// donations.cpp -- which results are computed into the memory of inputs.
#include "croze/jit/donations.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/jit/trace.h"
#include "croze/run/execute.h"
#include "croze/run/notes/call_notes.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze {
namespace {

// "input 1" has "input 1.layers[2]" within it, and not "input 10".
bool is_within(std::string_view place, std::string_view whole) {
  if (!place.starts_with(whole)) return false;
  const std::string_view rest = place.substr(whole.size());
  return rest.empty() || rest.front() == '.' || rest.front() == '[';
}

// What a chain of Reshapes, detached or not, shows all of.
UOp whole_of(UOp node) {
  while (node.is(Op::Reshape) || node.is(Op::Detach)) node = node.src(0);
  return node;
}

// Whether the node is memory, or a view of it.
bool looks_at_state(UOp node) {
  while (is_movement(node.op()) || node.is(Op::Detach)) node = node.src(0);
  return node.is(Op::Buffer) || node.is(Op::After);
}

UOp copied(UOp node) { return node.graph().make(Op::Contiguous, node.dtype(), {node}); }

bool can_hold(const Tensor& memory, const Tensor& value) {
  return memory.dtype() == value.dtype() && memory.numel() == value.numel() &&
         memory.device_index() == value.device_index() && memory.numel() > 0;
}

// All roots in one walk; most steps have nothing to replace.
std::vector<UOp> substituted(std::vector<UOp> roots,
                             std::span<const std::pair<UOp, UOp>> replacements) {
  if (roots.empty() || replacements.empty()) return roots;
  const UOp all = substitute(roots[0].graph().sink(roots), replacements);
  for (std::size_t i = 0; i < roots.size(); i++) roots[i] = all.src(static_cast<int>(i));
  return roots;
}

template <typename List, typename Member, typename Value>
bool contains(const List& list, Member member, const Value& value) {
  return std::ranges::find(list, value, member) != list.end();
}

// The memory after the value is stored there.
UOp stored_into(UOp place, UOp value) {
  const UOp effects[] = {tensor_graph().store(place, reshape_node(value, place.shape()))};
  return tensor_graph().after(place, effects);
}

}  // namespace

void Donations::add(std::string_view place) { places_.emplace_back(place); }

std::vector<bool> Donations::among(const Signature& signature) const {
  const std::vector<std::string> tensors = signature.places_of_tensors();
  std::vector<bool> donated(tensors.size());
  for (const std::string& place : places_) {
    bool found = false;
    for (std::size_t i = 0; i < tensors.size(); i++) {
      if (!is_within(tensors[i], place)) continue;
      donated[i] = found = true;
    }
    check(found, "{} of a captured step is donated, which is no tensor: the tensors are {}", place,
          fmt::join(tensors, ", "));
  }
  return donated;
}

// ---- a call -----------------------------------------------------------------------------------

DonatedInputs::DonatedInputs(std::span<const Tensor> inputs, std::vector<bool> donated,
                             const Signature& signature)
    : inputs_(inputs), donated_(std::move(donated)), memory_(inputs.size()) {
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (!donated_[i]) continue;
    const TensorRecord& record = TensorRecord::of(inputs[i]);
    check(record.root == nullptr,
          "{} of a captured step is donated, but it is a view of another tensor: make it "
          "contiguous(), or donate the other one",
          signature.place_of_tensor(i));
    check(record.views.empty(),
          "{} of a captured step is donated, but another tensor is a view of it: make that one "
          "contiguous(), or donate a copy",
          signature.place_of_tensor(i));
  }
}

void DonatedInputs::check_unread(std::span<const UOp> roots, const Signature& signature) const {
  NodeSet read;
  for (UOp u : toposort(roots)) read.insert(u.node());
  for (std::size_t i = 0; i < inputs_.size(); i++) {
    const UOp buffer = donated_[i] ? viewed_buffer(inputs_[i].node()) : UOp();
    check(!buffer || !read.contains(buffer.node()),
          "{} of a captured step is donated, but the function uses that tensor beside its inputs, "
          "too: donate a copy",
          signature.place_of_tensor(i));
  }
}

const Tensor& DonatedInputs::memory(std::size_t input) {
  Tensor& memory = memory_[input];
  if (memory.defined()) return memory;
  memory = inputs_[input];
  memory.realize();
  const TensorRecord& record = TensorRecord::of(memory);
  const UOp buffer = storage_of(record.node);
  const bool is_its_own = record.owns_storage && !record.borrows && buffer;
  if (!is_its_own || buffer.elements() != memory.numel()) memory = copy_of(memory);
  return memory;
}

std::vector<UOp> DonatedInputs::end(const std::vector<bool>& overwritten) {
  Registry& registry = Registry::instance();
  const Location by = current_call().where;
  std::vector<UOp> buffers(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); i++) {
    if (!donated_[i]) continue;
    if (overwritten[i]) buffers[i] = registry.take_memory(TensorRecord::of(memory(i)), by);
    const bool is_ended = overwritten[i] && memory(i).is_same(inputs_[i]);
    if (!is_ended) registry.end_value(TensorRecord::of(inputs_[i]), by);
  }
  return buffers;
}

// ---- which results ----------------------------------------------------------------------------

std::vector<UOp> with_stores(std::vector<UOp> roots) {
  const std::vector<UOp> order = toposort(roots);
  std::ranges::copy_if(order, std::back_inserter(roots), [](UOp u) { return u.is(Op::After); });
  return roots;
}

MemoryTaken::MemoryTaken(const Recorded& recorded) : assigned_(nodes_of(recorded.assigned)) {
  for (const Tensor& r : recorded.results) {
    results_.push_back({.value = r.node(), .shape = r.shape()});
  }
  const std::vector<Pair> pairs = pairs_of(recorded);
  if (pairs.empty()) return;
  RunCost least = cost_of(roots());
  take(pairs, least);
}

// Each donated input with a result of its kind: one that is the input itself, else the first.
std::vector<MemoryTaken::Pair> MemoryTaken::pairs_of(const Recorded& recorded) const {
  std::vector<Pair> pairs;
  const auto is_stored = [&](UOp value) {
    return std::ranges::any_of(
        pairs, [&](const Pair& p) { return p.is_stored && results_[p.result].value == value; });
  };
  const auto pair_all = [&](bool are_stored) {
    for (std::size_t i = 0; i < recorded.inputs.size(); i++) {
      const Tensor& memory = recorded.inputs[i];
      const int input = static_cast<int>(i);
      if (!recorded.donated[i] || contains(pairs, &Pair::input, input)) continue;
      for (std::size_t r = 0; r < results_.size(); r++) {
        if (!can_hold(memory, recorded.results[r]) || contains(pairs, &Pair::result, r)) continue;
        const bool is_input = whole_of(recorded.returned[r].node()) == whole_of(memory.node());
        if (are_stored ? is_stored(results_[r].value) : !is_input) continue;
        pairs.push_back({r, input, memory.node(), are_stored});
        break;
      }
    }
  };
  pair_all(false);
  pair_all(true);
  return pairs;
}

// As many of the pairs as make a run allocate less, and write nothing twice for it.
void MemoryTaken::take(std::span<const Pair> pairs, RunCost& least) {
  const std::vector<Result> before = results_;
  for (const Pair& p : pairs) {
    Result& r = results_[p.result];
    r.input = p.input, r.memory = p.memory, r.is_stored = p.is_stored;
  }
  const RunCost cost = cost_of(roots());
  if (cost.bytes < least.bytes && cost.kept_aside <= least.kept_aside) {
    least = cost;
    return;
  }
  results_ = before;
  if (pairs.size() == 1) return;
  const std::size_t half = pairs.size() / 2;
  take(pairs.first(half), least);
  take(pairs.subspan(half), least);
}

bool MemoryTaken::is_taken(std::size_t input) const {
  return contains(results_, &Result::input, static_cast<int>(input));
}

// Values, and the memory that they are stored in.  A value that is made from another one reads it
// there.
std::vector<std::pair<UOp, UOp>> MemoryTaken::stored() const {
  FlatMap<const Node*, UOp> memory;
  std::vector<UOp> values;
  for (const Result& r : results_) {
    if (r.is_stored && memory.insert(r.value.node(), r.memory).second) values.push_back(r.value);
  }
  std::vector<std::pair<UOp, UOp>> stored;
  for (UOp u : toposort(values)) {
    const UOp* place = memory.find(u.node());
    if (!place) continue;
    const UOp after = stored_into(*place, substitute(u, stored));
    stored.emplace_back(u, reshape_node(after, u.shape()));
  }
  return stored;
}

std::vector<UOp> MemoryTaken::roots() const {
  const std::vector<std::pair<UOp, UOp>> stored = this->stored();
  std::vector<UOp> before;
  for (const Result& r : results_) before.push_back(is_left_there(r) ? r.memory : r.value);
  before.insert(before.end(), assigned_.begin(), assigned_.end());
  std::vector<UOp> roots = substituted(before, stored);
  for (std::size_t i = 0; i < results_.size() && !stored.empty(); i++) {
    // Another value that stands in the same memory, or is a view of it.
    if (results_[i].input < 0 && looks_at_state(roots[i])) roots[i] = copied(roots[i]);
  }
  if (!stored.empty()) carry_notes(before, roots);
  return with_stores(std::move(roots));
}

std::vector<UOp> MemoryTaken::without(std::span<const UOp> roots) const {
  FlatSet<const Node*> stores;
  for (std::size_t i = 0; i < results_.size(); i++) {
    if (results_[i].is_stored) stores.insert(whole_of(roots[i]).node());
  }
  std::vector<std::pair<UOp, UOp>> values;
  for (UOp u : toposort(roots)) {
    if (stores.contains(u.node())) values.emplace_back(u, substitute(u.src(1).src(1), values));
  }
  const std::size_t count = results_.size() + assigned_.size();
  std::vector<UOp> result =
      substituted({roots.begin(), roots.begin() + std::ptrdiff_t(count)}, values);
  for (std::size_t i = 0; i < results_.size(); i++) {
    if (is_left_there(results_[i])) result[i] = copied(result[i]);
  }
  return with_stores(std::move(result));
}

void MemoryTaken::forget_nodes() {
  for (Result& r : results_) r.value = r.memory = {};
  std::ranges::fill(assigned_, UOp());
}

}  // namespace croze
