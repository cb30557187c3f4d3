// serialize.cpp -- the writer and the reader of the binary form of a graph.
//
// Form: version, count of nodes, nodes, count of the list, list.  A node is op, dtype and kind of
// argument in a byte each, the argument, the number of sources unless the op fixes it, and each
// source as the distance back to it.  The kind of argument is 4 more where a source is there that
// the op need not have.  Numbers are variable-length: seven bits a byte, low bits
// first; signed ones are folded so that small magnitudes stay short.
#include "croze/graph/text/serialize.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "croze/base/error.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rules/transport.h"

namespace croze {
namespace {

constexpr std::uint8_t version = 1;
constexpr int num_arg_kinds = static_cast<int>(Arg::Kind::Text) + 1;

// ---- writing ----------------------------------------------------------------------------------

class Writer {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void bytes(std::initializer_list<std::uint8_t> values) {
    bytes_.append(values.begin(), values.end());
  }

  void number(std::uint64_t value) {
    if (value < 0x80) return byte(static_cast<std::uint8_t>(value));
    char buffer[10];
    std::size_t size = 0;
    for (; value >= 0x80; value >>= 7) buffer[size++] = static_cast<char>(value | 0x80);
    buffer[size++] = static_cast<char>(value);
    bytes_.append(buffer, size);
  }

  void signed_number(std::int64_t value) {
    number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }

  void text(std::string_view text) { bytes_.append(text); }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

void write_arg(Writer& out, const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::None: break;
    case Arg::Kind::Int: out.signed_number(arg.value); break;
    case Arg::Kind::Ints:
      out.number(arg.size);
      for (std::int64_t v : arg.as_ints()) out.signed_number(v);
      break;
    case Arg::Kind::Text:
      out.number(arg.size);
      out.text(arg.as_text());
      break;
  }
}

// Numbers nodes in the order of the first visit and writes each when it gets its number.
class Serializer {
 public:
  // With a list of `buffers`: see serialize_over.
  explicit Serializer(const Graph& graph, std::vector<UOp>* buffers = nullptr)
      : number_of_(graph), buffers_(buffers) {}

  void visit(UOp root) {
    if (is_written(root)) return;
    stack_.push_back({root.node(), 0});
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      while (next < node->num_src && is_written(UOp(node->src[next]))) next++;
      if (next < node->num_src) {
        stack_.push_back({node->src[next++], 0});
        continue;
      }
      write(*node);
      stack_.pop_back();
    }
  }

  std::string finish(std::span<const UOp> nodes) {
    Writer list;
    list.byte(version);
    list.number(count_);
    list.text(out_.take());
    list.number(nodes.size());
    for (UOp u : nodes) list.number(number_of_.get(u) - 1);
    return list.take();
  }

 private:
  struct Visit {
    const Node* node;
    std::uint32_t next;
  };

  bool is_written(UOp u) const { return number_of_.get(u) != 0; }

  void write(const Node& node) {
    const std::uint32_t self = ++count_;
    const int arity = info(node.op).arity;
    const bool has_more = arity >= 0 && node.num_src > static_cast<std::uint32_t>(arity);
    const int kind = static_cast<int>(node.arg.kind) + (has_more ? num_arg_kinds : 0);
    out_.bytes({static_cast<std::uint8_t>(node.op), static_cast<std::uint8_t>(node.dtype),
                static_cast<std::uint8_t>(kind)});
    if (buffers_ && node.op == Op::Buffer) {
      write_buffer(node);
    } else {
      write_arg(out_, node.arg);
    }
    if (arity < 0) out_.number(node.num_src);
    for (std::uint32_t i = 0; i < node.num_src; i++) {
      out_.number(self - number_of_.get(UOp(node.src[i])));
    }
    number_of_.set(UOp(&node), self);
  }

  void write_buffer(const Node& node) {
    const UOp buffer(&node);
    const std::int64_t arg[] = {std::ssize(*buffers_), buffer.buffer_elements(),
                                buffer.buffer_device()};
    write_arg(out_, Arg(std::span(arg)));
    buffers_->push_back(buffer);
  }

  NodeMap<std::uint32_t> number_of_;  // from 1 on; 0: not written yet
  std::uint32_t count_ = 0;
  std::vector<Visit> stack_;
  Writer out_;
  std::vector<UOp>* buffers_;
};

std::string serialize(std::span<const UOp> nodes, std::vector<UOp>* buffers) {
  if (nodes.empty()) return {version, 0, 0};  // no nodes, and a list of none
  Serializer serializer(nodes[0].graph(), buffers);
  for (UOp u : nodes) serializer.visit(u);
  return serializer.finish(nodes);
}

// ---- reading ----------------------------------------------------------------------------------

void require(bool condition) { check(condition, "the stored graph is damaged"); }

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t byte() {
    require(position_ < bytes_.size());
    return static_cast<std::uint8_t>(bytes_[position_++]);
  }

  // A byte that names one of `count` things.
  template <typename T>
  T choice(int count) {
    const std::uint8_t value = byte();
    require(value < count);
    return static_cast<T>(value);
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = byte();
      value |= static_cast<std::uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return value;
    }
    require(false);
    return 0;
  }

  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }

  // A count of things that take at least a byte each.
  std::size_t count() {
    const std::uint64_t value = number();
    require(value <= bytes_.size() - position_);
    return static_cast<std::size_t>(value);
  }

  std::string_view text(std::size_t size) {
    require(size <= bytes_.size() - position_);
    position_ += size;
    return bytes_.substr(position_ - size, size);
  }

  bool at_end() const { return position_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

bool all_in(std::span<const std::int64_t> values, std::int64_t lo, std::int64_t hi) {
  return std::ranges::all_of(values, [=](std::int64_t v) { return lo <= v && v < hi; });
}

bool valid_movement(Op op, UOp x, std::span<const std::int64_t> a) {
  constexpr std::int64_t limit = std::int64_t{1} << 48;  // keeps sums of sizes far from overflow
  const auto rank = static_cast<std::size_t>(x.rank());
  if (!all_in(a, 0, limit)) return false;
  switch (op) {
    case Op::Permute: return a.size() == rank && all_in(a, 0, x.rank());
    case Op::Flip: return a.size() == rank;
    case Op::Pad:
    case Op::Shrink: return a.size() == 2 * rank;
    case Op::Window:
    case Op::Unwindow: return a.size() == 4 && a[0] < x.rank() && a[2] > 0;
    default: return a.size() < 128;  // Reshape, Expand
  }
}

bool valid_reduce(std::span<const UOp> src, const Arg& arg) {
  const auto a = arg.as_ints();
  return !src.empty() && !a.empty() && all_in(a.first(1), 0, num_ops) &&
         all_in(a.subspan(1), 0, src[0].rank());
}

// See tuple.h: leaders stand before those who follow them.
bool valid_tuple(std::span<const UOp> src, const Arg& arg) {
  const auto a = arg.as_ints();
  if (a.size() < 4 || a.size() % 3 != 1 || a[0] < 1 || src.size() <= a.size() / 3) return false;
  const auto laws = static_cast<std::int64_t>(transports().size());
  for (std::size_t part = 0; part < a.size() / 3; part++) {
    const auto fields = a.subspan(1 + 3 * part, 3);
    const std::int64_t least_leader = fields[1] < 0 ? -1 : 0;
    if (!all_in(fields.first(1), 0, num_ops) || !all_in(fields.subspan(1, 1), -1, laws) ||
        !all_in(fields.subspan(2), least_leader, static_cast<std::int64_t>(part))) {
      return false;
    }
  }
  return true;
}

// An argument of the form that the op has: what Graph::make and the accessors of UOp rely on.
bool valid_arg(Op op, std::span<const UOp> src, const Arg& arg) {
  const auto a = arg.as_ints();
  if (is_movement(op)) return arg.kind == Arg::Kind::Ints && valid_movement(op, src[0], a);
  switch (op) {
    case Op::Iota:
      if (!src.empty()) return false;
      [[fallthrough]];
    case Op::Const:
    case Op::Register: return arg.kind == Arg::Kind::Int;
    case Op::Buffer:
      if (!src.empty()) return false;
      [[fallthrough]];
    case Op::Variable: return a.size() == 3;
    case Op::Param: return a.size() == 2 && all_in(a.first(1), 0, INT32_MAX);
    case Op::Range:
      // In a program the loops around may decide how often one turns.
      if (!src.empty() && src[0].dtype() == DType::Index && !src[0].ranges().empty()) return false;
      return a.size() == 3 && a[0] >= 0 && a[0] < RangeSet::capacity && a[1] >= 0 && a[2] >= 0 &&
             a[2] <= static_cast<std::int64_t>(LoopKind::Depth);
    case Op::Special:
      return a.size() == 3 && all_in(a.first(1), 0, 3) && a[1] >= 0 && a[2] >= 0 &&
             a[2] <= static_cast<std::int64_t>(LoopKind::Depth);
    case Op::Local:
      return (a.size() == 3 || (a.size() == 4 && a[3] > 1) || (a.size() == 5 && a[3] > 2)) &&
             a[1] >= 0 && (a[2] == 0 || a[2] == 1);
    case Op::Reduce: return valid_reduce(src, arg);
    case Op::TupleReduce: return valid_tuple(src, arg);
    case Op::Part:
      return arg.kind == Arg::Kind::Int && src[0].is(Op::TupleReduce) && arg.value > 0 &&
             arg.value < src[0].first_closed();
    case Op::Prefetch: return arg.kind == Arg::Kind::Int;
    case Op::Exchange: return arg.kind == Arg::Kind::Int && src.size() == 2;
    case Op::Shuffle: return arg.kind == Arg::Kind::Int && arg.value > 0;
    case Op::Ballot:
      return arg.kind == Arg::Kind::Int && arg.value > 0 && arg.value <= 64 &&
             std::has_single_bit(static_cast<std::uint64_t>(arg.value));
    case Op::LoadMatrix:
      return arg.kind == Arg::Kind::Int && arg.value >= 0 && src[1].is(Op::Range);
    case Op::CopyBox:
      return a.size() >= 3 && a.size() % 3 == 0 && src.size() >= 2 + a.size() / 3 &&
             src[1].is(Op::Param) && std::ranges::all_of(a, [](std::int64_t x) { return x > 0; });
    case Op::AwaitProducts: return arg.kind == Arg::Kind::Int && arg.value >= 0;
    case Op::Contract:
      return find_matrix_unit(arg.as_text()) &&
             std::ranges::all_of(src.last(3), [](UOp lane) { return lane.is(Op::Range); });
    default: return true;
  }
}

// At least as many sources as derive.h and the accessors look at.
bool valid_sources(Op op, std::span<const UOp> src) {
  switch (op) {
    case Op::Gather:
    case Op::Scatter:
    case Op::Index:
    case Op::Store: return src.size() >= 2;
    case Op::WithGradient:
    case Op::After: return !src.empty();
    default: return true;
  }
}

class Deserializer {
 public:
  Deserializer(Graph& graph, std::string_view bytes) : graph_(graph), in_(bytes) {}

  std::vector<UOp> run() {
    require(in_.byte() == version);
    const std::size_t count = in_.count();
    nodes_.reserve(count);
    for (std::size_t i = 0; i < count; i++) nodes_.push_back(read_node());
    std::vector<UOp> list(in_.count());
    for (UOp& u : list) {
      const std::uint64_t number = in_.number();
      require(number < nodes_.size());
      u = nodes_[number];
    }
    require(in_.at_end());
    return list;
  }

 private:
  UOp read_node() {
    const auto op = in_.choice<Op>(num_ops);
    const auto dtype = in_.choice<DType>(num_dtypes);
    const int kind = in_.choice<int>(2 * num_arg_kinds), more = kind / num_arg_kinds;
    const Arg arg = read_arg(static_cast<Arg::Kind>(kind % num_arg_kinds));
    const int arity = info(op).arity;
    src_.resize(arity < 0 ? in_.count() : static_cast<std::size_t>(arity + more));
    require(takes_sources(op, std::ssize(src_)) && (arity >= 0 || more == 0));
    for (UOp& s : src_) {
      const std::uint64_t distance = in_.number();
      require(distance >= 1 && distance <= nodes_.size());
      s = nodes_[nodes_.size() - distance];
    }
    require(valid_sources(op, src_) && valid_arg(op, src_, arg));
    return graph_.make(op, dtype, src_, arg);
  }

  // Vectors lie in ints_ until the graph has copied them.
  Arg read_arg(Arg::Kind kind) {
    switch (kind) {
      case Arg::Kind::None: return {};
      case Arg::Kind::Int: return Arg(in_.signed_number());
      case Arg::Kind::Ints:
        ints_.resize(in_.count());
        for (std::int64_t& v : ints_) v = in_.signed_number();
        return Arg(std::span<const std::int64_t>(ints_));
      case Arg::Kind::Text: return Arg(in_.text(in_.count()));
    }
    return {};
  }

  Graph& graph_;
  Reader in_;
  std::vector<UOp> nodes_;
  std::vector<UOp> src_;
  std::vector<std::int64_t> ints_;
};

}  // namespace

std::string serialize(std::span<const UOp> nodes) { return serialize(nodes, nullptr); }

std::string serialize_over(std::span<const UOp> nodes, std::vector<UOp>& buffers) {
  return serialize(nodes, &buffers);
}

std::vector<UOp> deserialize(Graph& graph, std::string_view bytes) {
  try {
    return Deserializer(graph, bytes).run();
  } catch (const InternalError& e) {
    // Bytes of the right form that are no graph: sources that do not fit their op.
    fail({}, "the stored graph is damaged: {}", e.message());
  }
}

}  // namespace croze
