// call_notes.cpp -- the table of noted calls.
#include "croze/run/notes/call_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "croze/base/call_site.h"
#include "croze/base/flat_map.h"
#include "croze/base/hash.h"
#include "croze/base/options.h"
#include "croze/run/trace/recorder.h"

namespace croze {
namespace {

// Nodes that differ in their Buffers only have one key, and after a collection an address may be
// another node's: both together tell nodes apart.
std::uint64_t identity_of(UOp node) {
  return hash_mix(node.key(), reinterpret_cast<std::uintptr_t>(node.node()));
}

using Notes = std::unordered_map<std::uint64_t, CallNote>;  // by identity
constexpr std::size_t max_notes = 1 << 18;

// Process-wide: named in docs/architecture.md as global state.
struct State {
  std::mutex mutex;
  Notes recent, older;  // when there are too many, the older half goes

  CallNote* find(UOp node) {
    for (Notes* notes : {&recent, &older}) {
      const auto it = notes->find(identity_of(node));
      if (it != notes->end()) return &it->second;
    }
    return nullptr;
  }

  void add(UOp node, CallNote note) {
    if (recent.size() >= max_notes) older = std::exchange(recent, {});
    recent.emplace(identity_of(node), std::move(note));
  }
};

State& state() {
  static State& instance = *new State;
  return instance;
}

}  // namespace

bool are_calls_noted() {
  return Options::flag(Option::CheckIndices) || Options::flag(Option::CheckNan) ||
         Options::flag(Option::Explain) || tracing::is_tracing();
}

std::string to_text(const CallNote& note) {
  const std::string function = (note.is_gradient ? "gradient of " : "") + note.function;
  if (note.where.line() == 0) return function;
  const std::string file = std::filesystem::path(note.where.file_name()).filename().string();
  return fmt::format("{} ({}:{})", function, file, note.where.line());
}

void note_call(UOp node) {
  if (!are_calls_noted()) return;
  const CallSite& call = current_call();
  if (call.function.empty()) return;
  std::string function(call.function);
  if (!call.part.empty()) function = fmt::format("{}: {}", call.part, function);
  const std::lock_guard lock(state().mutex);
  // The same work asked for again: the last call is the one to name.  Others only pass it on.
  if (CallNote* known = state().find(node)) {
    if (known->function == function && !known->is_gradient) known->where = call.where;
    return;
  }
  state().add(node, {std::move(function), call.where, std::string(call.part)});
}

void note_gradient(UOp node, CallNote note) {
  const std::lock_guard lock(state().mutex);
  if (!state().find(node)) state().add(node, std::move(note));
}

void note_indices(UOp node, Negative negative) {
  if (!are_calls_noted()) return;
  const std::lock_guard lock(state().mutex);
  if (CallNote* note = state().find(node)) note->indices = negative;
}

void carry_notes(std::span<const UOp> before, std::span<const UOp> after) {
  if (!are_calls_noted()) return;
  const std::lock_guard lock(state().mutex);
  FlatSet<const Node*> seen;
  std::vector<std::pair<UOp, UOp>> stack;
  for (std::size_t i = 0; i < before.size(); i++) stack.emplace_back(before[i], after[i]);
  while (!stack.empty()) {
    const auto [from, to] = stack.back();
    stack.pop_back();
    if (from == to || !seen.insert(from.node())) continue;
    if (const CallNote* note = state().find(from); note && !state().find(to)) {
      state().add(to, CallNote(*note));
    }
    if (from.op() != to.op() || from.num_src() != to.num_src()) continue;
    for (int i = 0; i < from.num_src(); i++) stack.emplace_back(from.src(i), to.src(i));
  }
}

std::optional<CallNote> find_note(UOp node) {
  const std::lock_guard lock(state().mutex);
  const CallNote* note = state().find(node);
  return note ? std::optional(*note) : std::nullopt;
}

std::optional<CallNote> find_note_around(UOp node, std::span<const UOp> order) {
  if (auto note = find_note(node)) return note;
  FlatSet<const Node*> dependent;
  dependent.insert(node.node());
  for (UOp u : order) {
    bool depends = false;
    for (UOp s : u.sources()) depends = depends || dependent.contains(s.node());
    if (!depends) continue;
    if (auto note = find_note(u)) return note;
    dependent.insert(u.node());
  }
  return {};
}

NotesAround::NotesAround(std::span<const UOp> order) {
  std::vector<std::optional<std::size_t>> own;
  for (UOp u : order) {
    own.emplace_back();
    if (auto note = find_note(u)) {
      own.back() = notes_.size();
      notes_.push_back(std::move(*note));
    }
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const UOp u = order[i];
    if (own[i]) *first_.insert(u.node(), *own[i]).first = *own[i];
    const std::size_t* known = first_.find(u.node());
    if (!known) continue;
    const std::size_t first = *known;  // insertions move what it points to
    for (UOp s : u.sources()) {
      std::size_t& of_source = *first_.insert(s.node(), first).first;
      of_source = std::min(of_source, first);
    }
  }
}

const CallNote* NotesAround::find(UOp node) const {
  const std::size_t* first = first_.find(node.node());
  return first ? &notes_[*first] : nullptr;
}

}  // namespace croze
