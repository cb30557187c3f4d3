// call_notes.h -- which call of the user's recorded a node, where somebody wants to know.
//
// Graphs know nothing of the calls that recorded them.  So while an option asks for it, a table
// beside them notes for each result of a function which call of the user's made it.  Otherwise
// every function here is one branch.  They may be called by several threads at once.
#pragma once

#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/graph/uop.h"

namespace croze {

// Whether CROZE_CHECK_INDICES, CROZE_CHECK_NAN or CROZE_EXPLAIN is set, or the program is traced.
bool are_calls_noted();

// The node is a Gather or Scatter by positions of the user's; negative ones have been counted from
// the end or not.
enum class Negative { Unknown, Refused, FromTheEnd };

struct CallNote {
  std::string function;
  std::source_location where;
  std::string part;  // of a model: its node, with which `function` begins; else empty
  // Of what a gradient records: it is noted with the call that it is the gradient of, and the
  // module of that (notes/modules.h).
  bool is_gradient = false;
  std::string module = {};
  Negative indices = Negative::Unknown;  // of a Gather or Scatter that is looked at
};

// "conv2d (net.cpp:12)", "gradient of conv2d (net.cpp:12)".
std::string to_text(const CallNote& note);

// The user's call at work gives this node.
void note_call(UOp node);
// Of a node that is noted.
void note_indices(UOp node, Negative negative);
// `after` is the graph `before` with some nodes replaced, or in another Graph: it was recorded by
// the same calls.
void carry_notes(std::span<const UOp> before, std::span<const UOp> after);

// A gradient gives this node.
void note_gradient(UOp node, CallNote note);

// None if it is not noted.
std::optional<CallNote> find_note(UOp node);
// Of the call that recorded the node, or else of the first one whose result depends on it; `order`
// is the graph around it, sources first.
std::optional<CallNote> find_note_around(UOp node, std::span<const UOp> order);

// The same for all nodes of the order.
class NotesAround {
 public:
  explicit NotesAround(std::span<const UOp> order);
  // Null if there is none, or the node was not in the order.
  const CallNote* find(UOp node) const;

 private:
  std::vector<CallNote> notes_;  // in the order
  FlatMap<const Node*, std::size_t> first_;
};

}  // namespace croze
