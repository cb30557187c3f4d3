// reading.cpp -- unification of dtypes over the tokens of a rule.
#include "croze/prove/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "croze/base/error.h"
#include "croze/graph/graph.h"

namespace croze {
namespace {

constexpr Types values = any_type & ~types_of({DType::Void});

bool is_supported(Op op) { return is_elementwise(op) || op == Op::Index || op == Op::Load; }

// Ops chosen for the families of a rule, by slot.
using FamilyOps = std::array<Op, 26>;

// Classes of parts that have one dtype, each with the dtypes it may have.
class Unification {
 public:
  Unification(const Rule& rule, const FamilyOps& families) : families_(families) {
    reading_.rule = &rule;
    slots_.fill(-1);
    named_.fill(-1);
    const Token* t = rule.pattern.tokens.data();
    reading_.pattern = read(t);
    num_pattern_ = reading_.parts.size();
    if (rule.rewrite) return;
    t = rule.replacement.tokens.data();
    reading_.replacement = read(t);
    unify(type_of(reading_.pattern), type_of(reading_.replacement));
  }

  void restrict_numbers(Types types) {
    const RulePart& root = part(reading_.pattern);
    restrict(root.operands.empty() ? reading_.pattern : root.operands.back(), types);
  }

  // Every choice of dtypes.
  std::vector<Reading> solutions(Types allowed) {
    std::vector<int> free;  // one per class, pattern first
    for (std::size_t i = 0; i < reading_.parts.size(); i++) {
      const int c = find(static_cast<int>(i));
      masks_[static_cast<std::size_t>(c)] &= allowed;
      if (std::find(free.begin(), free.end(), c) != free.end()) continue;
      ensure(i < num_pattern_ || std::popcount(masks_[static_cast<std::size_t>(c)]) <= 1,
             "{}: the replacement has a part of unknown dtype", to_string(*reading_.rule));
      free.push_back(c);
    }
    std::vector<Reading> found;
    std::vector<DType> chosen(reading_.parts.size(), DType::Void);
    choose(free, 0, &chosen, &found);
    return found;
  }

 private:
  RulePart& part(int place) { return reading_.parts[static_cast<std::size_t>(place)]; }
  int type_of(int place) { return find(place); }

  int find(int c) {
    while (parents_[static_cast<std::size_t>(c)] != c) c = parents_[static_cast<std::size_t>(c)];
    return c;
  }
  void unify(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    masks_[static_cast<std::size_t>(a)] &= masks_[static_cast<std::size_t>(b)];
    parents_[static_cast<std::size_t>(b)] = a;
  }
  void restrict(int place, Types types) { masks_[static_cast<std::size_t>(find(place))] &= types; }

  int add(const Token& t, Types types) {
    const int place = static_cast<int>(reading_.parts.size());
    reading_.parts.push_back({&t});
    masks_.push_back(types & values);
    parents_.push_back(place);
    return place;
  }

  int read(const Token*& t) {
    const Token& head = *t++;
    ensure(head.kind != Token::Rest, "{}: no prover for a Rest", to_string(*reading_.rule));
    const int place = add(head, head.types);
    if (!head.is_call()) {
      if (head.is_capture()) read_name(place, head);
      return place;
    }
    const Op op = head.kind == Token::Family ? families_[head.id] : head.op();
    part(place).op = op;
    for (int i = 0; i < head.count; i++) {
      const int operand = read(t);
      part(place).operands.push_back(operand);
    }
    constrain(place);
    if (head.name != Token::no_name) named_[head.name] = place;
    return place;
  }

  // A letter is one node wherever it stands.
  void read_name(int place, const Token& head) {
    if (named_[head.id] >= 0) return unify(named_[head.id], place);
    if (slots_[head.id] >= 0) return unify(slots_[head.id], place);
    slots_[head.id] = place;
    if (head.kind == Token::Int) restrict(place, integrals);
  }

  void constrain(int place) {
    const Op op = part(place).op;
    const std::vector<int> operands = part(place).operands;
    if (has_trait(op, trait_float_only)) restrict(place, floats);
    if (has_trait(op, trait_integer_only)) restrict(place, integrals);
    if (op == Op::Threefry) restrict(place, types_of({DType::UInt64}));
    if (op == Op::Cast || op == Op::Bitcast) {
      // In a replacement, a cast is to the dtype of what is replaced.
      if (num_pattern_ > 0) unify(reading_.pattern, place);
      return;
    }
    if (is_comparison(op)) restrict(place, bools);
    for (std::size_t i = 0; i < operands.size(); i++) {
      if (op == Op::Where && i == 0) {
        restrict(operands[i], bools);
      } else if (op == Op::Index && i > 0) {
        restrict(operands[i], i == 1 ? index_type : bools);
      } else if (is_comparison(op)) {
        unify(operands[0], operands[i]);
      } else {
        unify(place, operands[i]);
      }
    }
  }

  void choose(const std::vector<int>& free, std::size_t i, std::vector<DType>* chosen,
              std::vector<Reading>* found) {
    if (i == free.size()) {
      Reading result = reading_;
      for (std::size_t p = 0; p < result.parts.size(); p++) {
        result.parts[p].dtype = (*chosen)[static_cast<std::size_t>(find(static_cast<int>(p)))];
      }
      if (fits_bitcasts(result)) found->push_back(std::move(result));
      return;
    }
    const auto c = static_cast<std::size_t>(free[i]);
    for (int t = 0; t < num_dtypes; t++) {
      if (!contains(masks_[c], static_cast<DType>(t))) continue;
      (*chosen)[c] = static_cast<DType>(t);
      choose(free, i + 1, chosen, found);
    }
  }

  // A Bitcast keeps the number of bits.
  static bool fits_bitcasts(const Reading& r) {
    for (const RulePart& p : r.parts) {
      if (p.op != Op::Bitcast || !p.token->is_call()) continue;
      const DType from = r.parts[static_cast<std::size_t>(p.operands[0])].dtype;
      if (size_of(from) != size_of(p.dtype) || size_of(from) == 0) return false;
    }
    return true;
  }

  const FamilyOps& families_;
  Reading reading_;
  std::size_t num_pattern_ = 0;
  std::vector<Types> masks_;
  std::vector<int> parents_;
  std::array<int, 26> slots_, named_;
};

bool is_readable(const Rule& rule) {
  for (int i = 0; i < rule.pattern.size; i++) {
    const Token& t = rule.pattern.tokens[static_cast<std::size_t>(i)];
    if (t.kind == Token::Call && !is_supported(t.op())) return false;
    if (t.kind == Token::Family && !is_supported(t.family->ops[0])) return false;
  }
  return true;
}

std::vector<const Ops*> families_of(const Rule& rule) {
  std::vector<const Ops*> families;
  for (int i = 0; i < rule.pattern.size; i++) {
    const Token& t = rule.pattern.tokens[static_cast<std::size_t>(i)];
    if (t.kind != Token::Family) continue;
    if (std::find(families.begin(), families.end(), t.family) == families.end()) {
      families.push_back(t.family);
    }
  }
  return families;
}

}  // namespace

std::vector<Reading> readings_of(const Rule& rule, Numbers numbers, Types allowed) {
  std::vector<Reading> all;
  if (!is_readable(rule)) return all;
  const std::vector<const Ops*> families = families_of(rule);
  std::size_t combinations = 1;
  for (const Ops* f : families) combinations *= static_cast<std::size_t>(f->count);
  for (std::size_t i = 0; i < combinations; i++) {
    FamilyOps ops{};
    std::size_t left = i;
    for (const Ops* f : families) {
      const auto count = static_cast<std::size_t>(f->count);
      ops[slot_of(f->letter)] = f->ops[left % count];
      left /= count;
    }
    Unification unification(rule, ops);
    unification.restrict_numbers(types_of(numbers));
    for (Reading& r : unification.solutions(allowed)) all.push_back(std::move(r));
  }
  return all;
}

// ---- readings ---------------------------------------------------------------------------------

std::string Reading::text() const {
  std::string text;
  std::uint32_t seen = 0;
  for (const RulePart& p : parts) {
    const bool is_family = p.token->kind == Token::Family;
    if ((!p.token->is_capture() && !is_family) || seen >> p.token->id & 1) continue;
    seen |= 1u << p.token->id;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", static_cast<char>('a' + p.token->id),
                        is_family ? info(p.op).name : name_of(p.dtype));
  }
  return text;
}

bool Reading::is_integral() const {
  return std::all_of(parts.begin(), parts.end(),
                     [](const RulePart& p) { return croze::is_integral(p.dtype); });
}

Reading Reading::with(DType from, DType to) const {
  Reading result = *this;
  for (RulePart& p : result.parts) {
    if (p.dtype == from) p.dtype = to;
  }
  return result;
}

int Reading::place_of(std::uint8_t slot) const {
  for (std::size_t i = 0; i < parts.size(); i++) {
    const Token& t = *parts[i].token;
    if (t.is_call() ? t.name == slot : t.is_capture() && t.id == slot) return static_cast<int>(i);
  }
  return -1;
}

// ---- instances --------------------------------------------------------------------------------

UOp OpaqueLeaves::leaf(Graph& graph, const Token& capture, DType t) {
  return graph.load(graph.place(graph.param(t, capture.id, 1), graph.index(0)));
}

namespace {

// Builds parts; recursion follows the rule.
class Builder {
 public:
  Builder(const Reading& reading, Graph& graph, LeafSource& leaves, Instance* out)
      : reading_(reading), graph_(graph), leaves_(leaves), names_(out->names) {}

  UOp build(int place, bool is_buffer = false) {
    const RulePart& p = reading_.parts[static_cast<std::size_t>(place)];
    const Token& t = *p.token;
    if (t.kind == Token::Literal) return graph_.constant(p.dtype, t.value);
    if (t.kind == Token::Real) return graph_.constant(p.dtype, std::bit_cast<double>(t.value));
    if (t.is_capture()) {
      UOp& known = names_[t.id];
      if (!known) {
        known = is_buffer ? graph_.param(p.dtype, 100 + t.id, 1) : leaves_.leaf(graph_, t, p.dtype);
      }
      return known;
    }
    std::vector<UOp> src;
    for (std::size_t i = 0; i < p.operands.size(); i++) {
      src.push_back(build(p.operands[i], p.op == Op::Index && i == 0));
    }
    const UOp made = graph_.make(p.op, p.dtype, src);
    if (t.name != Token::no_name) names_[t.name] = made;
    return made;
  }

 private:
  const Reading& reading_;
  Graph& graph_;
  LeafSource& leaves_;
  std::array<UOp, 26>& names_;
};

}  // namespace

Instance instantiate(const Reading& reading, Graph& graph, LeafSource& leaves) {
  Instance instance;
  Builder builder(reading, graph, leaves, &instance);
  instance.left = builder.build(reading.pattern);
  if (reading.replacement >= 0) instance.right = builder.build(reading.replacement);
  return instance;
}

}  // namespace croze
