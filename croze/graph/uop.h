// uop.h -- UOp, the one node of every graph: a handle to an immutable, interned (op, dtype,
// sources, argument).
//
// Equal means same pointer: two nodes of one graph built from equal parts are the same node.  What
// follows from those parts (shape, bounds, open ranges) is derived once, when the node is made, and
// can therefore never be stale.  A UOp is one pointer; pass it by value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "croze/graph/arg.h"
#include "croze/graph/dtype.h"
#include "croze/graph/op.h"

namespace croze {

class Extent;
class Graph;
class UOp;

// A set of Range nodes of one graph, by range id (0..127).
struct RangeSet {
  std::uint64_t words[2] = {0, 0};
  static constexpr int capacity = 128;

  static RangeSet of(std::int64_t id);
  bool contains(std::int64_t id) const { return (words[id >> 6] >> (id & 63)) & 1; }
  bool empty() const { return (words[0] | words[1]) == 0; }
  int count() const;
  bool intersects(RangeSet o) const {
    return ((words[0] & o.words[0]) | (words[1] & o.words[1])) != 0;
  }
  bool contains_all(RangeSet o) const {
    return ((o.words[0] & ~words[0]) | (o.words[1] & ~words[1])) == 0;
  }
  RangeSet operator|(RangeSet o) const { return {{words[0] | o.words[0], words[1] | o.words[1]}}; }
  RangeSet operator&(RangeSet o) const { return {{words[0] & o.words[0], words[1] & o.words[1]}}; }
  RangeSet operator-(RangeSet o) const {
    return {{words[0] & ~o.words[0], words[1] & ~o.words[1]}};
  }
  bool operator==(const RangeSet&) const = default;
};

// The values an integral node can take: lo <= value <= hi, and value % multiple == 0.
// The bounds of Index nodes saturate at int64; a sized integer whose exact result could wrap has
// the bounds of its type.
struct Bounds {
  std::int64_t lo = 0, hi = 0;
  std::int64_t multiple = 1;  // 0: the value is always zero
  bool is_point() const { return lo == hi; }
  bool operator==(const Bounds&) const = default;
};

// What stands in the arena.  Use it through UOp.
struct Node {
  Op op;
  DType dtype;
  std::uint8_t rank : 7;      // of the shape
  std::uint8_t has_open : 1;  // sizes in it (extent.h)
  mutable std::uint8_t mark;  // scratch of the collector
  std::uint32_t num_src;
  std::uint32_t id;               // dense in its graph; reused after a collection
  mutable std::uint32_t settled;  // id of a rule set that has nothing to do here or below; 0: none
  std::uint64_t key;              // structural hash: equal in every run and every graph
  Arg arg;
  const std::int64_t* dims;  // the shape, as words of Dims
  Bounds bounds;             // of integral nodes
  RangeSet ranges;           // the loops this value varies over
  const Node* src[];
};

// Sources of a node that are not the ranges it closes; for one that closes none, more than any node
// has.
constexpr int first_closed(Op op, const Arg& arg) {
  switch (op) {
    case Op::Reduce: return 1;
    case Op::TupleReduce: return static_cast<int>(arg.size / 3);  // tuple.h
    case Op::Store: return 2;
    case Op::Contract: return 4;
    case Op::CopyBox: return 2 + static_cast<int>(arg.size / 3);
    default: return 1 << 20;
  }
}

class UOp {
 public:
  constexpr UOp() = default;
  constexpr explicit UOp(const Node* node) : node_(node) {}

  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const UOp&) const = default;

  Op op() const { return node_->op; }
  bool is(Op op) const { return node_->op == op; }
  DType dtype() const { return node_->dtype; }
  const Arg& arg() const { return node_->arg; }
  int num_src() const { return static_cast<int>(node_->num_src); }
  UOp src(int i) const { return UOp(node_->src[i]); }
  std::uint32_t id() const { return node_->id; }
  std::uint64_t key() const { return node_->key; }
  const Node* node() const { return node_; }
  Graph& graph() const;

  // Iterates over the sources: for (UOp s : u.sources()).
  class Sources;
  Sources sources() const;

  // Derived.
  // Throws InternalError if a size is open: who can do with that asks for extent().
  std::span<const std::int64_t> shape() const {
    if (node_->has_open) refuse_open();
    return {node_->dims, node_->rank};
  }
  bool has_open_shape() const { return node_->has_open; }
  Extent extent(std::int64_t axis) const;
  int rank() const { return node_->rank; }
  std::int64_t elements() const;  // product of the shape; the greatest, if it is open
  Extent element_count() const;   // the same, open if the shape is
  const Bounds& bounds() const { return node_->bounds; }
  std::int64_t lo() const { return node_->bounds.lo; }
  std::int64_t hi() const { return node_->bounds.hi; }
  RangeSet ranges() const { return node_->ranges; }
  bool varies_over(UOp range) const { return ranges().contains(range.range_id()); }

  // Constants.
  bool is_const() const { return node_->op == Op::Const; }
  bool is_const(std::int64_t value) const;  // of any dtype; exact, and -0.0 is not 0
  std::int64_t const_int() const { return node_->arg.value; }     // integral dtypes
  double const_double() const { return node_->arg.as_double(); }  // float dtypes

  // Records.
  std::int64_t range_id() const { return node_->arg.ints[0]; }
  std::int64_t range_size() const { return node_->arg.ints[1]; }  // the greatest, if it is open
  LoopKind loop_kind() const { return static_cast<LoopKind>(node_->arg.ints[2]); }
  std::int64_t slot() const { return node_->arg.ints[0]; }             // Param, Variable
  std::int64_t buffer_id() const { return node_->arg.ints[0]; }        // Buffer
  std::int64_t buffer_elements() const { return node_->arg.ints[1]; }  // Buffer, Param, Local
  bool is_open() const { return is(Op::Range) && num_src() > 0; }
  // How often a Range turns: its source, or the size as a constant.
  UOp trip_count() const;
  // A number that divides the trip count: the size, or what is known of the source.
  std::int64_t trip_divisor() const;
  // Elements that a Param, Local or Buffer has, whatever its Variables are: fewer than elements()
  // if the size is open.
  std::int64_t least_elements() const;
  int buffer_device() const { return static_cast<int>(node_->arg.ints[2]); }  // Buffer
  Op reduce_op() const;  // Reduce, in both forms; Scatter

  // The first source that is a Range closed by the node; all after it are, too.
  int first_closed() const { return croze::first_closed(op(), arg()); }

 private:
  [[noreturn]] void refuse_open() const;

  const Node* node_ = nullptr;
};

class UOp::Sources {
 public:
  class Iterator {
   public:
    explicit Iterator(const Node* const* p) : p_(p) {}
    UOp operator*() const { return UOp(*p_); }
    Iterator& operator++() {
      ++p_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Node* const* p_;
  };
  explicit Sources(const Node* n) : node_(n) {}
  Iterator begin() const { return Iterator(node_->src); }
  Iterator end() const { return Iterator(node_->src + node_->num_src); }

 private:
  const Node* node_;
};
inline UOp::Sources UOp::sources() const { return Sources(node_); }

// Whether it writes to its first source: a store, or a copy that begins.
inline bool is_write(UOp u) { return u.is(Op::Store) || u.is(Op::CopyBox); }

// Algebra on nodes.  Both operands must have one dtype; a number takes the dtype of the node beside
// it.  `/` is floor division on integers and division on floats; `%` is floor modulo.
UOp operator+(UOp a, UOp b);
UOp operator-(UOp a, UOp b);
UOp operator*(UOp a, UOp b);
UOp operator/(UOp a, UOp b);
UOp operator%(UOp a, UOp b);
UOp operator-(UOp a);
UOp operator+(UOp a, std::int64_t b);
UOp operator-(UOp a, std::int64_t b);
UOp operator*(UOp a, std::int64_t b);
UOp operator/(UOp a, std::int64_t b);
UOp operator%(UOp a, std::int64_t b);
UOp operator&(UOp a, UOp b);
UOp operator|(UOp a, UOp b);
UOp logical_not(UOp a);  // no operator!: `if (!u)` asks whether the handle is null
UOp less(UOp a, UOp b);
UOp less(UOp a, std::int64_t b);
UOp less_equal(UOp a, UOp b);
UOp equal(UOp a, UOp b);
UOp equal(UOp a, std::int64_t b);
UOp not_equal(UOp a, UOp b);
UOp where(UOp condition, UOp a, UOp b);
UOp max(UOp a, UOp b);
UOp min(UOp a, UOp b);
UOp cast(UOp a, DType t);
UOp constant_like(UOp a, std::int64_t value);

}  // namespace croze
