// graph.cpp -- interning, the elementwise constructor, and the constructors of the other kinds.
#include "croze/graph/graph.h"

#include <algorithm>
#include <cstring>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/base/hash.h"
#include "croze/graph/analysis/derive.h"
#include "croze/graph/eval.h"
#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

constexpr std::size_t first_table_size = 1 << 10;

std::uint64_t hash_arg(const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::None: return 0;
    case Arg::Kind::Int: return hash_mix(1, static_cast<std::uint64_t>(arg.value));
    case Arg::Kind::Ints: {
      std::uint64_t h = hash_mix(2, arg.size);
      for (std::int64_t v : arg.as_ints()) h = hash_mix(h, static_cast<std::uint64_t>(v));
      return h;
    }
    case Arg::Kind::Text: return hash_bytes(arg.as_text(), 3);
  }
  return 0;
}

// Of the argument of a movement: of an open size, what it is and not where it stands.
std::uint64_t key_of(const Arg& arg) {
  std::uint64_t h = hash_mix(2, arg.size);
  for (std::int64_t word : arg.as_ints()) {
    const Extent size = Extent::of_word(word);
    h = hash_mix(h, size.is_open() ? size.expression().key() : static_cast<std::uint64_t>(word));
  }
  return h;
}

std::uint64_t hash_kind(Op op, DType dtype) {
  return static_cast<std::uint64_t>(op) << 8 | static_cast<std::uint64_t>(dtype);
}

// The structural key: a function of the form alone, by which operands are ordered.  Which buffer or
// parameter is read does not enter, nor does the value of a number: a computation over other
// buffers and numbers must come out in the same order, or the caches of schedules and programs
// would not know it again.  (Numbers of positions and truth values are part of the form.)
std::uint64_t key_of(Op op, DType dtype, std::span<const UOp> src, const Arg& arg) {
  const bool has_identity = op == Op::Buffer || op == Op::Param;
  const bool is_number = op == Op::Const && dtype != DType::Index && dtype != DType::Bool;
  const Arg form = has_identity ? Arg(arg.as_ints().subspan(1)) : is_number ? Arg() : arg;
  std::uint64_t h = hash_mix(hash_kind(op, dtype), is_movement(op) ? key_of(form) : hash_arg(form));
  for (UOp s : src) h = hash_mix(h, s.key());
  return h;
}

// The hash that finds a node of this graph by its content.
std::uint64_t hash_of(Op op, DType dtype, std::span<const UOp> src, const Arg& arg) {
  std::uint64_t h = hash_mix(hash_kind(op, dtype), hash_arg(arg));
  for (UOp s : src) h = hash_mix(h, s.id());
  return h;
}

bool same(const Node* n, Op op, DType dtype, std::span<const UOp> src, const Arg& arg) {
  if (n->op != op || n->dtype != dtype || n->num_src != src.size() || !(n->arg == arg))
    return false;
  for (std::size_t i = 0; i < src.size(); i++) {
    if (n->src[i] != src[i].node()) return false;
  }
  return true;
}

// Constants last, then by structural key: the same order in every run.  Operands of equal form stay
// as they were given.
bool in_order(UOp a, UOp b) {
  if (a.is_const() != b.is_const()) return b.is_const();
  return a.key() <= b.key();
}

// Memory that is used again, in lists by its size in words.
using FreeLists = std::vector<std::vector<void*>>;

constexpr std::size_t words_for(std::size_t bytes) { return (bytes + 7) / 8; }

void* allocate_words(Arena& arena, FreeLists& free, std::size_t words) {
  if (words >= free.size() || free[words].empty()) {
    return arena.allocate(static_cast<std::int64_t>(words * 8));
  }
  void* memory = free[words].back();
  free[words].pop_back();
  return memory;
}

void release_words(FreeLists& free, const void* memory, std::size_t words) {
  if (words >= free.size()) free.resize(words + 1);
  free[words].push_back(const_cast<void*>(memory));
}

// What a size that is not a constant can be.
bool is_open_size(UOp u) {
  return u.dtype() == DType::Index && u.ranges().empty() && u.lo() >= 0 && u.hi() < INT64_MAX;
}

// What stands for an open size in a node.  That a product of sizes is not negative is no longer
// seen where it has been multiplied out.
UOp source_of(UOp size) { return size.lo() < 0 ? max(size, constant_like(size, 0)) : size; }

std::size_t words_of_node(std::size_t num_src) {
  return words_for(sizeof(Node) + num_src * sizeof(Node*));
}

}  // namespace

bool Arg::operator==(const Arg& other) const {
  if (kind != other.kind || size != other.size) return false;
  switch (kind) {
    case Kind::None: return true;
    case Kind::Int: return value == other.value;
    case Kind::Ints: return ints == other.ints || std::equal(ints, ints + size, other.ints);
    case Kind::Text: return as_text() == other.as_text();
  }
  return false;
}

Graph::Graph() : arena_(this), table_(first_table_size) {}
Graph::~Graph() = default;

// ---- interning --------------------------------------------------------------------------------

UOp Graph::make(Op op, DType dtype, std::span<const UOp> src, Arg arg) {
  const std::uint64_t hash = hash_of(op, dtype, src, arg);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash & mask; table_[i].node; i = (i + 1) & mask) {
    if (table_[i].hash == hash && same(table_[i].node, op, dtype, src, arg)) {
      return UOp(table_[i].node);
    }
  }

  const Extents dims = derive_shape(op, src, arg);
  const Bounds bounds = derive_bounds(op, dtype, src, arg);
  const RangeSet ranges = derive_ranges(op, src, arg);
  Node* n = allocate(src.size());
  n->op = op;
  n->dtype = dtype;
  n->rank = dims.size() & 127;
  n->mark = 0;
  n->settled = 0;
  n->key = key_of(op, dtype, src, arg);
  n->arg = intern(arg);
  n->has_open = std::ranges::any_of(dims, &Extent::is_open);
  n->dims = intern_dims(dims, src, n->arg);
  n->bounds = bounds;
  n->ranges = ranges;
  for (std::size_t i = 0; i < src.size(); i++) n->src[i] = src[i].node();
  insert(hash, n);
  return UOp(n);
}

Node* Graph::allocate(std::size_t num_src) {
  void* memory = allocate_words(arena_, free_, words_of_node(num_src));
  Node* n = new (memory) Node;
  n->num_src = static_cast<std::uint32_t>(num_src);
  if (free_ids_.empty()) {
    n->id = next_id_++;
  } else {
    n->id = free_ids_.back();
    free_ids_.pop_back();
  }
  live_++;
  return n;
}

Arg Graph::intern(const Arg& arg) {
  Arg result = arg;
  if (arg.kind == Arg::Kind::Ints) {
    const char* bytes = reinterpret_cast<const char*>(arg.ints);
    result.ints = static_cast<const std::int64_t*>(intern_bytes({bytes, arg.size * 8ul}));
  } else if (arg.kind == Arg::Kind::Text) {
    result.chars = static_cast<const char*>(intern_bytes(arg.as_text()));
  }
  return result;
}

// Most shapes are that of a source, or the argument.
const std::int64_t* Graph::intern_dims(std::span<const Extent> dims, std::span<const UOp> src,
                                       const Arg& arg) {
  Dims words;
  for (Extent d : dims) words.push_back(d.word());
  for (UOp s : src) {
    if (std::ranges::equal(std::span(s.node()->dims, s.node()->rank), words)) return s.node()->dims;
  }
  if (std::ranges::equal(arg.as_ints(), words)) return arg.ints;
  return intern(Arg(words)).ints;
}

const void* Graph::intern_bytes(std::string_view bytes) {
  if (bytes.empty()) return nullptr;
  const std::uint64_t h = hash_bytes(bytes);
  auto [it, end] = interned_.equal_range(h);
  for (; it != end; ++it) {
    if (it->second == bytes) return it->second.data();
  }
  char* copy = static_cast<char*>(allocate_words(arena_, free_, words_for(bytes.size())));
  std::memcpy(copy, bytes.data(), bytes.size());
  interned_.emplace(h, std::string_view(copy, bytes.size()));
  return copy;
}

void Graph::insert(std::uint64_t hash, const Node* node) {
  if (live_ * 2 > table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash & mask;
  while (table_[i].node) i = (i + 1) & mask;
  table_[i] = {hash, node};
}

void Graph::grow() {
  std::vector<Slot> old(table_.size() * 2);
  old.swap(table_);
  const std::size_t mask = table_.size() - 1;
  for (const Slot& s : old) {
    if (!s.node) continue;
    std::size_t i = s.hash & mask;
    while (table_[i].node) i = (i + 1) & mask;
    table_[i] = s;
  }
}

// ---- collection -------------------------------------------------------------------------------

void Graph::collect(std::span<const UOp> roots, void (*dropped)(UOp, void*), void* context) {
  mark(roots);
  if (dropped) {
    for (const Slot& s : table_) {
      if (s.node && !s.node->mark && s.node->op == Op::Buffer) dropped(UOp(s.node), context);
    }
  }
  sweep();
}

void Graph::mark(std::span<const UOp> roots) {
  std::vector<const Node*> stack;
  auto visit = [&](const Node* n) {
    if (n->mark) return;
    n->mark = 1;
    stack.push_back(n);
  };
  auto visit_open = [&](std::span<const std::int64_t> words) {
    for (std::int64_t word : words) {
      if (Extent::is_open_word(word)) visit(Extent::of_word(word).expression().node());
    }
  };
  for (UOp root : roots) visit(root.node());
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    for (std::uint32_t i = 0; i < n->num_src; i++) visit(n->src[i]);
    if (n->has_open) visit_open({n->dims, n->rank});
    if (is_movement(n->op)) visit_open(n->arg.as_ints());
  }
}

void Graph::sweep() {
  recent_.fill(UOp());
  std::vector<Slot> kept;
  for (const Slot& s : table_) {
    if (!s.node) continue;
    if (s.node->mark) {
      s.node->mark = 0;
      kept.push_back(s);
      continue;
    }
    free_ids_.push_back(s.node->id);
    release_words(free_, s.node, words_of_node(s.node->num_src));
  }
  FlatSet<const void*> used;
  for (const Slot& s : kept) {
    used.insert(s.node->dims);
    if (s.node->arg.kind == Arg::Kind::Ints) used.insert(s.node->arg.ints);
    if (s.node->arg.kind == Arg::Kind::Text) used.insert(s.node->arg.chars);
  }
  for (auto it = interned_.begin(); it != interned_.end();) {
    const std::string_view content = it->second;
    const bool keep = used.contains(content.data());
    if (!keep) release_words(free_, content.data(), words_for(content.size()));
    it = keep ? std::next(it) : interned_.erase(it);
  }
  // Who makes nodes and drops them makes as many again.
  std::size_t size = std::max(first_table_size, table_.size() / 2);
  while (size < kept.size() * 2 + 2) size *= 2;
  table_.assign(size, {});
  live_ = 0;
  for (const Slot& s : kept) {
    live_++;
    insert(s.hash, s.node);
  }
}

// ---- elementwise ------------------------------------------------------------------------------

UOp Graph::alu(Op op, std::span<const UOp> src) {
  const DType t = result_dtype(op, src);
  if (t == DType::Index && op == Op::Neg) return index_mul(src[0], index(-1));
  if (t == DType::Index && src.size() == 2 && src[0].op() != Op::Invalid &&
      src[1].op() != Op::Invalid) {
    switch (op) {
      case Op::Add: return index_add(src[0], src[1]);
      case Op::Mul: return index_mul(src[0], src[1]);
      case Op::IDiv: return index_div(src[0], src[1]);
      case Op::Mod: return index_mod(src[0], src[1]);
      default: break;
    }
  }
  if (std::all_of(src.begin(), src.end(), [](UOp s) { return s.is_const(); })) {
    std::int64_t bits[3] = {0, 0, 0};
    for (std::size_t i = 0; i < src.size(); i++) bits[i] = src[i].arg().value;
    return constant_bits(t, eval(op, t, src.back().dtype(), std::span(bits, src.size())));
  }
  if (is_commutative(op) && !in_order(src[0], src[1])) return make(op, t, {src[1], src[0]});
  return make(op, t, src);
}

UOp Graph::cast(UOp x, DType t) {
  if (x.dtype() == t) return x;
  if (x.is_const()) return constant_bits(t, convert(x.arg().value, x.dtype(), t));
  return make(Op::Cast, t, {x});
}

UOp Graph::bitcast(UOp x, DType t) {
  if (x.dtype() == t) return x;
  ensure(size_of(x.dtype()) == size_of(t), "bitcast from {} to {}: widths differ",
         name_of(x.dtype()), name_of(t));
  if (x.is_const()) {
    std::byte memory[8];
    store_bits(x.arg().value, x.dtype(), memory);
    return constant_bits(t, load_bits(memory, t));
  }
  return make(Op::Bitcast, t, {x});
}

UOp Graph::with_sources(UOp u, std::span<const UOp> src) {
  if (u.is(Op::Cast)) return cast(src[0], u.dtype());
  if (u.is(Op::Bitcast)) return bitcast(src[0], u.dtype());
  // How often a loop turns may follow from those around it (codegen/lower/idle_reductions.h).
  const bool has_size = u.is_open() && u.dtype() == DType::Index && src[0].ranges().empty();
  if (has_size) return range(u.range_id(), src[0], u.loop_kind());
  if (is_elementwise(u.op()) && !src.empty()) return alu(u.op(), src);
  return make(u.op(), u.dtype(), src, u.arg());
}

// ---- leaves -----------------------------------------------------------------------------------

UOp Graph::constant_bits(DType t, std::int64_t bits) { return make(Op::Const, t, {}, Arg(bits)); }
UOp Graph::constant(DType t, std::int64_t value) {
  return constant_bits(t, t == DType::Index ? value : bits_of(value, t));
}
UOp Graph::constant(DType t, double value) { return constant_bits(t, bits_of(value, t)); }
UOp Graph::invalid(DType t) { return make(Op::Invalid, t, {}); }

UOp Graph::buffer(DType t, std::int64_t id, std::int64_t elements, int device) {
  const std::int64_t arg[] = {id, elements, device};
  return make(Op::Buffer, t, {}, Arg(std::span(arg)));
}

UOp Graph::buffer(DType t, std::int64_t id, Extent elements, int device) {
  if (!elements.is_open()) return buffer(t, id, elements.number(), device);
  const std::int64_t arg[] = {id, elements.most(), device};
  return make(Op::Buffer, t, {source_of(elements.expression())}, Arg(std::span(arg)));
}

UOp Graph::param(DType t, std::int64_t slot, std::int64_t elements) {
  const std::int64_t arg[] = {slot, elements};
  return make(Op::Param, t, {}, Arg(std::span(arg)));
}

UOp Graph::param(DType t, std::int64_t slot, std::int64_t elements, UOp count) {
  if (count.is_const()) return param(t, slot, count.const_int());
  ensure(is_open_size(count) && count.hi() <= elements, "a parameter of {} elements has {} to {}",
         elements, count.lo(), count.hi());
  const std::int64_t arg[] = {slot, elements};
  return make(Op::Param, t, {count}, Arg(std::span(arg)));
}

UOp Graph::variable(std::int64_t slot, std::int64_t lo, std::int64_t hi) {
  const std::int64_t arg[] = {slot, lo, hi};
  return make(Op::Variable, DType::Index, {}, Arg(std::span(arg)));
}

UOp Graph::number(DType t, std::int64_t slot) {
  const bool counts = is_integral(t);
  const std::int64_t arg[] = {slot, counts ? min_value(t) : 0, counts ? max_value(t) : 0};
  return make(Op::Variable, t, {}, Arg(std::span(arg)));
}

UOp Graph::range(std::int64_t id, std::int64_t size, LoopKind kind) {
  ensure(id < RangeSet::capacity, "a kernel has more than {} ranges", RangeSet::capacity);
  const std::int64_t arg[] = {id, size, static_cast<std::int64_t>(kind)};
  return make(Op::Range, DType::Index, {}, Arg(std::span(arg)));
}

UOp Graph::range(std::int64_t id, Extent trip, LoopKind kind) {
  return trip.is_open() ? range(id, source_of(trip.expression()), kind)
                        : range(id, trip.number(), kind);
}

UOp Graph::range(std::int64_t id, UOp trip, LoopKind kind) {
  if (trip.is_const() && trip.const_int() > 0) return range(id, trip.const_int(), kind);
  ensure(id < RangeSet::capacity, "a kernel has more than {} ranges", RangeSet::capacity);
  ensure(is_open_size(trip), "a loop of {} to {}", trip.lo(), trip.hi());
  const std::int64_t arg[] = {id, std::max<std::int64_t>(trip.hi(), 1),
                              static_cast<std::int64_t>(kind)};
  return make(Op::Range, DType::Index, {trip}, Arg(std::span(arg)));
}

UOp Graph::range_of_kind(UOp range, LoopKind kind) {
  const std::int64_t arg[] = {range.range_id(), range.range_size(),
                              static_cast<std::int64_t>(kind)};
  if (!range.is_open()) return make(Op::Range, range.dtype(), {}, Arg(std::span(arg)));
  return make(Op::Range, range.dtype(), {range.src(0)}, Arg(std::span(arg)));
}

UOp Graph::local(DType t, std::int64_t id, std::int64_t elements, Space space) {
  const std::int64_t arg[] = {id, elements, static_cast<std::int64_t>(space)};
  return make(Op::Local, t, {}, Arg(std::span(arg)));
}

UOp Graph::iota(Extent size) {
  if (!size.is_open()) return make(Op::Iota, DType::Index, {}, Arg(size.number()));
  return make(Op::Iota, DType::Index, {source_of(size.expression())}, Arg(size.most()));
}

// ---- movement, reduction, memory --------------------------------------------------------------

UOp Graph::movement(Op op, UOp x, std::span<const std::int64_t> arg) {
  return make(op, x.dtype(), {x}, Arg(arg));
}

UOp Graph::movement(Op op, UOp x, std::span<const Extent> arg) {
  Dims words;
  for (Extent d : arg) words.push_back(d.word());
  return make(op, x.dtype(), {x}, Arg(words));
}

UOp Graph::reduce_axes(Op op, UOp x, std::span<const std::int64_t> axes) {
  SmallVector<std::int64_t, 8> arg{static_cast<std::int64_t>(op)};
  arg.append(axes.begin(), axes.end());
  return make(Op::Reduce, x.dtype(), {x}, Arg(std::span<const std::int64_t>(arg)));
}

UOp Graph::reduce(Op op, UOp x, std::span<const UOp> ranges) {
  if (ranges.empty()) return x;
  SmallVector<UOp, 8> src{x};
  src.append(ranges.begin(), ranges.end());
  const std::int64_t arg[] = {static_cast<std::int64_t>(op)};
  return make(Op::Reduce, x.dtype(), std::span<const UOp>(src), Arg(std::span(arg)));
}

UOp Graph::place(UOp buffer, UOp index) { return make(Op::Index, buffer.dtype(), {buffer, index}); }

UOp Graph::place(UOp buffer, UOp index, UOp gate) {
  return make(Op::Index, buffer.dtype(), {buffer, index, gate});
}

UOp Graph::load(UOp place) { return make(Op::Load, place.dtype(), {place}); }

UOp Graph::store(UOp place, UOp value, std::span<const UOp> ranges) {
  SmallVector<UOp, 8> src{place, value};
  src.append(ranges.begin(), ranges.end());
  return make(Op::Store, DType::Void, std::span<const UOp>(src));
}

UOp Graph::after(UOp value, std::span<const UOp> effects) {
  if (effects.empty()) return value;
  SmallVector<UOp, 8> src{value};
  src.append(effects.begin(), effects.end());
  return make(Op::After, value.dtype(), std::span<const UOp>(src));
}

UOp Graph::sink(std::span<const UOp> effects) { return make(Op::Sink, DType::Void, effects); }

// ---- import -----------------------------------------------------------------------------------

UOp Graph::import(UOp root) {
  std::unordered_map<const Node*, UOp> done;
  std::vector<UOp> stack{root};
  std::vector<UOp> src;
  while (!stack.empty()) {
    const UOp u = stack.back();
    if (done.contains(u.node())) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    for (UOp s : u.sources()) {
      if (done.contains(s.node())) continue;
      stack.push_back(s);
      ready = false;
    }
    if (!ready) continue;
    src.clear();
    for (UOp s : u.sources()) src.push_back(done.at(s.node()));
    done.emplace(u.node(), make(u.op(), u.dtype(), src, u.arg()));
    stack.pop_back();
  }
  return done.at(root.node());
}

}  // namespace croze
