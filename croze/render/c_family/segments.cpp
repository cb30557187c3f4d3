// segments.cpp -- divides the instruction list.
#include "croze/render/c_family/segments.h"

namespace croze::c_family {
namespace {

// Loads and stores of memory that lanes share; registers are not among them.
bool is_access(UOp u) {
  return (u.is(Op::Load) || u.is(Op::Store)) && !buffer_of(u.src(0)).is(Op::Register);
}

// Whether one statement makes all lanes, or takes them.
bool is_of_all_lanes(UOp u) {
  return u.is(Op::Reduce) || u.is(Op::Contract) || u.is(Op::LoadMatrix) || u.is(Op::AwaitProducts);
}

// The same for two parameters that are one buffer.
std::int64_t identity_of(UOp buffer) {
  return buffer.is(Op::Param) ? 2 * buffer.slot() : 2 * buffer.arg().ints[0] + 1;
}

// Buffers that the loop at hand has touched.
class Touched {
 public:
  bool conflicts(UOp u) const {
    if (!is_access(u)) return false;
    const std::int64_t buffer = identity_of(buffer_of(u.src(0)));
    return written_.contains(buffer) || (u.is(Op::Store) && read_.contains(buffer));
  }
  void add(UOp u) {
    if (!is_access(u)) return;
    (u.is(Op::Store) ? written_ : read_).insert(identity_of(buffer_of(u.src(0))));
  }

 private:
  FlatSet<std::int64_t> written_, read_;
};

}  // namespace

bool Segments::is_statement(UOp u) { return !is_declaration(u) && !u.is(Op::Range); }

Segments::Segments(const LinearProgram& program, const WideAccesses& wide)
    : wide_(wide), lane_ranges_(program.lanes) {
  divide(program);
  find_escapes(program);
}

UOp Segments::lane_of(UOp node) const {
  for (UOp lane : lane_ranges_) {
    if (node.varies_over(lane)) return lane;
  }
  return {};
}

UOp Segments::executed_over(UOp u) const {
  if (!is_statement(u) || is_of_all_lanes(u) || wide_.contains(u)) return {};
  if (!u.is(Op::Store)) return lane_of(u);
  // What a Store varies over has been taken from it by the ranges it closes.
  const UOp lane = lane_of(u.src(0));
  return lane ? lane : lane_of(u.src(1));
}

void Segments::divide(const LinearProgram& program) {
  Touched touched;
  UOp current;
  std::int32_t segment = 0;
  for (UOp u : program.instructions) {
    const UOp lane = executed_over(u);
    if (is_statement(u)) {
      if (!lane || lane != current || touched.conflicts(u)) {
        segment++;
        touched = {};
      }
      touched.add(u);
      current = lane;
    }
    lanes_.push_back(lane);
    segment_.push_back(segment);
  }
}

void Segments::find_escapes(const LinearProgram& program) {
  FlatMap<const Node*, std::int32_t> computed_in;
  for (std::size_t i = 0; i < program.instructions.size(); i++) {
    const UOp u = program.instructions[i];
    auto use = [&](UOp value) {
      while (value.is(Op::After)) value = value.src(0);
      const std::int32_t* segment = computed_in.find(value.node());
      if (segment && *segment != segment_[i]) escaping_.insert(value.node());
    };
    for (UOp s : u.sources()) {
      while (s.is(Op::After)) s = s.src(0);
      if (s.is(Op::Index)) {
        for (int k = 1; k < s.num_src(); k++) use(s.src(k));
      } else {
        use(s);
      }
    }
    if (lanes_[i]) computed_in[u.node()] = segment_[i];
    const bool is_whole = wide_.contains(u) && u.is(Op::Load);
    if (is_whole || u.is(Op::Contract) || u.is(Op::LoadMatrix)) escaping_.insert(u.node());
  }
}

}  // namespace croze::c_family
