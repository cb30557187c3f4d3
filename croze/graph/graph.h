// graph.h -- the arena that owns and interns nodes, and the constructors of every kind of node.
//
// A Graph belongs to one thread at a time.  Compiling a kernel works in a Graph of its own that is
// dropped whole; the graph of the live tensors is long-lived and is collected (collect) at safe
// points from the nodes still in use.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "croze/base/arena.h"
#include "croze/graph/extent.h"
#include "croze/graph/uop.h"

namespace croze {

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The node (op, dtype, src, arg) exactly as given.  Throws InternalError if the sources do not
  // fit the op (rank, dtype, shape), which is a bug of the caller: user input is checked before.
  UOp make(Op op, DType dtype, std::span<const UOp> src, Arg arg = {});
  UOp make(Op op, DType dtype, std::initializer_list<UOp> src, Arg arg = {}) {
    return make(op, dtype, std::span(src.begin(), src.size()), arg);
  }

  // An elementwise node in canonical form: constants are folded in the target dtype, operands of
  // commutative ops are ordered (constants last), index sums are kept as ordered linear forms
  // (index_form.h).  The result dtype follows from the op; Cast and Bitcast take it as argument.
  UOp alu(Op op, std::span<const UOp> src);
  UOp alu(Op op, std::initializer_list<UOp> src) {
    return alu(op, std::span(src.begin(), src.size()));
  }
  UOp cast(UOp x, DType t);
  UOp bitcast(UOp x, DType t);

  // The node `u` over other sources, through alu() where u is elementwise.
  UOp with_sources(UOp u, std::span<const UOp> src);

  // Leaves.
  UOp constant(DType t, std::int64_t value);  // any dtype; rounds to a float dtype
  UOp constant(DType t, double value);        // any dtype; converts as eval's cast does
  UOp constant_bits(DType t, std::int64_t bits);
  UOp index(std::int64_t value) {
    UOp& recent = recent_[static_cast<std::uint64_t>(value) % recent_.size()];
    if (!recent || recent.const_int() != value) recent = constant_bits(DType::Index, value);
    return recent;
  }
  UOp boolean(bool value) { return constant(DType::Bool, static_cast<std::int64_t>(value)); }
  UOp invalid(DType t);
  UOp buffer(DType t, std::int64_t id, std::int64_t elements, int device);
  UOp buffer(DType t, std::int64_t id, Extent elements, int device);
  UOp param(DType t, std::int64_t slot, std::int64_t elements);
  // A Param that has `count` elements, at most `elements`.
  UOp param(DType t, std::int64_t slot, std::int64_t elements, UOp count);
  UOp variable(std::int64_t slot, std::int64_t lo, std::int64_t hi);
  UOp number(DType t, std::int64_t slot);  // a Variable of the tensor stage, shape ()
  UOp range(std::int64_t id, std::int64_t size, LoopKind kind);
  // A Range that turns as often as `trip` says, an Index of constants and Variables that is not
  // negative: open, or of a constant size if that is what it is.
  UOp range(std::int64_t id, UOp trip, LoopKind kind);
  UOp range(std::int64_t id, Extent trip, LoopKind kind);
  // The Range run another way.
  UOp range_of_kind(UOp range, LoopKind kind);
  UOp local(DType t, std::int64_t id, std::int64_t elements, Space space);
  UOp iota(Extent size);

  // Movement and structure (tensor stage).
  UOp movement(Op op, UOp x, std::span<const std::int64_t> arg);
  UOp movement(Op op, UOp x, std::span<const Extent> arg);
  UOp reduce_axes(Op op, UOp x, std::span<const std::int64_t> axes);

  // Kernel stage.
  UOp reduce(Op op, UOp x, std::span<const UOp> ranges);
  UOp place(UOp buffer, UOp index);            // Index
  UOp place(UOp buffer, UOp index, UOp gate);  // Index, gated
  UOp load(UOp place);
  UOp store(UOp place, UOp value, std::span<const UOp> ranges = {});
  UOp after(UOp value, std::span<const UOp> effects);
  UOp sink(std::span<const UOp> effects);

  // The node of another graph rebuilt here, with everything it reaches.  Iterative, linear.
  UOp import(UOp root);

  // Drops every node that no root reaches.  Handles to dropped nodes must not be used again.
  // Calls `dropped(node, context)` for each dropped Buffer node first.
  void collect(std::span<const UOp> roots, void (*dropped)(UOp, void*) = nullptr,
               void* context = nullptr);

  std::size_t size() const { return live_; }           // nodes alive
  std::uint32_t id_limit() const { return next_id_; }  // ids are below this
  std::int64_t bytes() const { return arena_.bytes_used(); }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    const Node* node = nullptr;
  };

  Node* allocate(std::size_t num_src);
  Arg intern(const Arg& arg);
  const std::int64_t* intern_dims(std::span<const Extent> dims, std::span<const UOp> src,
                                  const Arg& arg);
  const void* intern_bytes(std::string_view bytes);
  void insert(std::uint64_t hash, const Node* node);
  void grow();
  void mark(std::span<const UOp> roots);
  void sweep();

  Arena arena_;
  std::array<UOp, 64> recent_;  // Index constants: every sum asks for some
  std::vector<Slot> table_;     // open addressing; the hash beside the pointer spares a cache miss
  std::unordered_multimap<std::uint64_t, std::string_view>
      interned_;                          // contents of args and shapes
  std::vector<std::vector<void*>> free_;  // freed memory by size in words
  std::vector<std::uint32_t> free_ids_;
  std::uint32_t next_id_ = 0;
  std::size_t live_ = 0;
};

}  // namespace croze
