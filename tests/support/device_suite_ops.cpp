// device_suite_ops.cpp -- every elementwise op on every dtype that the device claims, on edge
// values, as scalars and, where the device has them, as vectors, compared with eval().
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "croze/graph/eval.h"
#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {
namespace {

std::vector<std::int64_t> edge_values(DType t) {
  std::vector<std::int64_t> bits;
  auto add = [&](std::int64_t b) {
    if (std::ranges::find(bits, b) == bits.end()) bits.push_back(b);
  };
  if (t == DType::Bool) return {0, 1};
  if (!is_float(t)) {
    for (std::int64_t v : {0, 1, 2, 3, 7, 100, -1, -2, -7}) add(bits_of(v, t));
    for (std::int64_t v : {min_value(t), max_value(t), max_value(t) - 1}) add(v);
    if (t == DType::UInt64) add(-1);
    return bits;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (double v : {0.0,     -0.0,   1.0,   -1.0,  0.5,      -2.5,      3.7,         127.9, 128.0,
                   -129.0,  255.5,  256.0, 1e-3,  65504.0,  3e9,       -3e9,        1e10,  9.3e18,
                   -9.3e18, 1.9e19, 1e-40, 1e300, infinity, -infinity, std::nan("")}) {
    add(bits_of(v, t));
  }
  return bits;
}

// What each operand of an op over `t` is.
std::vector<DType> operand_types(Op op, DType t) {
  if (op == Op::Where) return {DType::Bool, t, t};
  return std::vector<DType>(static_cast<std::size_t>(info(op).arity), t);
}

bool is_defined(Op op, DType t) {
  if (has_trait(op, trait_float_only)) return is_float(t);
  if (has_trait(op, trait_integer_only)) {
    const bool on_bool = op == Op::Not || op == Op::And || op == Op::Or || op == Op::Xor;
    return is_integer(t) || (t == DType::Bool && on_bool);
  }
  return t != DType::Bool || op == Op::Where || is_comparison(op);
}

// Inputs that a linear program never hands to the op (see program.h).
enum class Excluded { None, Quotients, Shifts };

Excluded excluded_by(Op op) {
  if (op == Op::CDiv || op == Op::CMod) return Excluded::Quotients;
  return op == Op::Shl || op == Op::Shr ? Excluded::Shifts : Excluded::None;
}

bool is_excluded(Excluded kind, DType t, std::span<const std::int64_t> v) {
  switch (kind) {
    case Excluded::Quotients:
      return v[1] == 0 || (!is_unsigned(t) && v[1] == -1 && v[0] == min_value(t));
    case Excluded::Shifts: return v[1] < 0 || v[1] >= 8 * size_of(t);
    default: return false;
  }
}

using Column = std::vector<std::int64_t>;

// All combinations of the edge values of the operands, padded to a multiple of 4 rows.
std::vector<Column> combinations(Excluded excluded, std::span<const DType> operands) {
  std::vector<std::vector<std::int64_t>> rows{{}};
  for (DType operand : operands) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& row : rows) {
      for (std::int64_t v : edge_values(operand)) {
        longer.push_back(row);
        longer.back().push_back(v);
      }
    }
    rows = std::move(longer);
  }
  std::erase_if(rows, [&](const auto& row) { return is_excluded(excluded, operands.back(), row); });
  while (rows.size() % 4) rows.push_back(rows.front());
  std::vector<Column> columns(operands.size());
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < row.size(); k++) columns[k].push_back(row[k]);
  }
  return columns;
}

std::vector<std::byte> to_memory(const Column& column, DType t) {
  std::vector<std::byte> memory(column.size() * static_cast<std::size_t>(size_of(t)));
  for (std::size_t i = 0; i < column.size(); i++) {
    store_bits(column[i], t, memory.data() + i * static_cast<std::size_t>(size_of(t)));
  }
  return memory;
}

bool same_value(std::int64_t a, std::int64_t b, DType t) {
  if (!is_float(t)) return a == b;
  const auto x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
  return a == b || (std::isnan(x) && std::isnan(y));
}

std::string text_of(std::int64_t bits, DType t) {
  return is_float(t) ? fmt::format("{}", std::bit_cast<double>(bits)) : fmt::format("{}", bits);
}

struct Result {
  Op op;
  DType dtype;
};

// Ops that are tried on the same operands.
struct Family {
  std::vector<DType> operands;
  Excluded excluded = Excluded::None;
  std::vector<Result> results;
  std::vector<Column> columns;
  std::size_t first_buffer = 0;  // the operands, then the results
};

// Puts the op into the family of its operands.
void add_op(std::vector<Family>& families, Op op, DType result, std::vector<DType> operands) {
  const Excluded excluded = excluded_by(op);
  auto family = std::ranges::find_if(
      families, [&](const Family& f) { return f.operands == operands && f.excluded == excluded; });
  if (family == families.end()) {
    families.push_back({std::move(operands), excluded, {}, {}});
    family = families.end() - 1;
    family->columns = combinations(excluded, family->operands);
  }
  family->results.push_back({op, result});
}

// One kernel that computes all families, each in a loop of its own.
LinearProgram program_of(std::vector<Family>& families, std::int64_t lanes) {
  ProgramBuilder b("ops");
  UOp lane = lanes > 1 ? b.lane(lanes) : UOp();
  for (Family& f : families) {
    const auto rows = static_cast<std::int64_t>(f.columns[0].size());
    f.first_buffer = static_cast<std::size_t>(b.info().num_buffers);
    std::vector<UOp> in, out, values;
    for (DType t : f.operands) in.push_back(b.param(t, rows));
    for (const Result& r : f.results) out.push_back(b.param(r.dtype, rows));
    const UOp loop = b.begin_loop(rows / lanes);
    const UOp index = lanes > 1 ? loop * lanes + lane : loop;
    for (UOp buffer : in) values.push_back(b.load(buffer, index));
    for (std::size_t i = 0; i < out.size(); i++) {
      // The node as it is: alu() would order the operands.
      b.store(out[i], index, b.graph().make(f.results[i].op, f.results[i].dtype, values));
    }
    b.end_loop(loop);
  }
  return b.finish();
}

// Whether a device that does not keep subnormals may take the number for zero.
bool may_be_zero(std::int64_t bits, DType t) {
  return t == DType::Float32 &&
         std::fpclassify(static_cast<float>(std::bit_cast<double>(bits))) == FP_SUBNORMAL;
}

void compare(const Caps& caps, const Family& f, const Result& r, std::span<const std::byte> memory,
             std::int64_t lanes) {
  const DType operand = f.operands.back();
  int shown = 0;
  for (std::size_t row = 0; row < f.columns[0].size() && shown < 5; row++) {
    std::vector<std::int64_t> in;
    std::string text;
    bool is_open = false;
    for (std::size_t k = 0; k < f.columns.size(); k++) {
      in.push_back(f.columns[k][row]);
      text += text_of(in.back(), f.operands[k]) + " ";
      is_open |= may_be_zero(in.back(), f.operands[k]);
    }
    const std::int64_t expected = eval(r.op, r.dtype, operand, in);
    if (!caps.keeps_subnormals && (is_open || may_be_zero(expected, r.dtype))) continue;
    const std::int64_t got =
        load_bits(memory.data() + row * static_cast<std::size_t>(size_of(r.dtype)), r.dtype);
    if (same_value(expected, got, r.dtype)) continue;
    shown++;
    ADD_FAILURE() << info(r.op).name << " " << name_of(operand) << " -> " << name_of(r.dtype)
                  << " in " << lanes << " lanes of " << text << "is " << text_of(got, r.dtype)
                  << ", expected " << text_of(expected, r.dtype);
  }
}

void run_families(Device& device, std::vector<Family> families) {
  if (families.empty()) return;
  const Caps& caps = device.caps();
  for (std::int64_t lanes : {1, 4}) {
    if (lanes > 1 && caps.vector_bytes == 0 && device.name() != "INTERP") continue;
    const LinearProgram program = program_of(families, lanes);
    ASSERT_LE(program.info.num_buffers, caps.max_buffers);
    std::vector<std::vector<std::byte>> memory;
    for (const Family& f : families) {
      for (std::size_t k = 0; k < f.operands.size(); k++) {
        memory.push_back(to_memory(f.columns[k], f.operands[k]));
      }
      for (const Result& r : f.results) {
        memory.emplace_back(f.columns[0].size() * static_cast<std::size_t>(size_of(r.dtype)));
      }
    }
    std::vector<std::span<std::byte>> spans(memory.begin(), memory.end());
    run_program(device, program, spans);
    for (const Family& f : families) {
      std::size_t buffer = f.first_buffer + f.operands.size();
      for (const Result& r : f.results) compare(caps, f, r, memory[buffer++], lanes);
    }
  }
}

TEST(DeviceOps, EveryOpOnEveryDTypeMeansWhatEvalSays) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine lacks the device";
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    const auto dtype = static_cast<DType>(t);
    if (!device->caps().has_dtype(dtype)) continue;
    std::vector<Family> families;
    for (int o = 0; o < num_ops; o++) {
      const auto op = static_cast<Op>(o);
      if (!is_elementwise(op) || info(op).arity < 1 || !device->caps().has_op(op)) continue;
      if (op == Op::Cast || op == Op::Bitcast || !is_defined(op, dtype)) continue;
      const DType result = is_comparison(op) ? DType::Bool : dtype;
      add_op(families, op, result, operand_types(op, dtype));
    }
    run_families(*device, std::move(families));
  }
}

TEST(DeviceOps, CastsSaturateRoundAndWrapBetweenAllPairsOfDTypes) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine lacks the device";
  const Caps& caps = device->caps();
  for (int f = static_cast<int>(DType::Bool); f < num_dtypes; f++) {
    const auto from = static_cast<DType>(f);
    if (!caps.can_store(from)) continue;
    std::vector<Family> families;
    for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
      const auto to = static_cast<DType>(t);
      if (from == to || !caps.can_store(to)) continue;
      if (!caps.has_dtype(from) && !caps.has_dtype(to)) continue;
      add_op(families, Op::Cast, to, {from});
      const bool both = caps.has_dtype(from) && caps.has_dtype(to);
      if (both && size_of(from) == size_of(to) && from != DType::Bool && to != DType::Bool) {
        add_op(families, Op::Bitcast, to, {from});
      }
    }
    run_families(*device, std::move(families));
  }
}

}  // namespace
}  // namespace croze::test
