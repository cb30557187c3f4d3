#include "croze/render/spirv/cooperative.h"

#include "croze/base/error.h"
#include "croze/render/spirv/memory.h"

namespace croze::spirv {
namespace {

constexpr StorageClass group_memory = StorageClass::Workgroup;

std::uint32_t word(std::int64_t value) { return static_cast<std::uint32_t>(value); }

const MatrixUnit& unit_of(UOp contract) { return *find_matrix_unit(contract.arg().as_text()); }

std::int64_t terms_of_instruction(const MatrixUnit& unit) { return unit.depth / unit.instructions; }

// Which integers have signs, the instruction says; sums of products without any have none.
std::uint32_t signs_of(const MatrixUnit& unit) {
  const auto has_sign = [](DType t) { return !is_float(t) && !is_unsigned(t); };
  const bool of_a = has_sign(unit.a), of_b = has_sign(unit.b);
  return (of_a ? a_has_sign : 0) | (of_b ? b_has_sign : 0) | (of_a || of_b ? sums_have_sign : 0);
}

// Of the sums as rows one after the other, that which an item has as number `lane`.
std::int64_t place_of_sum(const MatrixUnit& unit, std::int64_t item, std::int64_t lane) {
  const std::int64_t lanes = places_of_thread(unit, unit.places_of_sums);
  const MatrixElement e = element_at(place_bits(unit.places_of_sums), item * lanes + lane);
  return e.m * unit.columns + e.n;
}

}  // namespace

Cooperative::Cooperative(Module& module, const LinearProgram& program)
    : m_(module), program_(program) {
  for (UOp u : program.instructions) {
    const bool is_update = u.is(Op::Store) && u.src(1).is(Op::Contract);
    if (is_update && buffer_of(u.src(0)).is(Op::Register))
      units_of_sums_[buffer_of(u.src(0)).node()] = &unit_of(u.src(1));
    if (!u.is(Op::Contract)) continue;
    const MatrixUnit& unit = unit_of(u);
    ensure(unit.keeps_sums, "the spirv renderer has no unit {}", unit.name);
    tables_[&unit] = {};
    for_units_.insert(u.src(0).node());
    for (int i : {1, 2}) {
      factor_tiles_.insert(buffer_of(u.src(i).src(0)).node());
      factors_[u.src(i).node()] = {&unit, i == 1};
    }
  }
}

void Cooperative::begin() {
  if (is_used()) m_.need_matrices();
  for (auto& [unit, table] : tables_) table = table_of(*unit);
  for (const auto& [reg, unit] : units_of_sums_)
    sums_[reg] = m_.variable(StorageClass::Function, type_of_sums(*unit));
}

// The first axis of a group is a subgroup, so the others count subgroups.
Cooperative::Table Cooperative::table_of(const MatrixUnit& unit) {
  const auto& items = program_.info.launch.items;
  ensure(items[0] == unit.threads, "a group has other rows of items than unit {}", unit.name);
  for (std::int64_t item = 0; item < unit.threads; item++)
    ensure(place_of_sum(unit, item, 0) == item, "unit {}: sums of items lie apart", unit.name);
  const std::int64_t size = unit.rows * unit.columns;
  const Id words = m_.type_int(32);
  const Id at = m_.define(Code::Load, m_.type_words(3), {m_.built_in(BuiltIn::LocalInvocationId)});
  const auto axis = [&](std::uint32_t i) {
    return m_.define(Code::CompositeExtract, words, {at, i});
  };
  const Id layers = m_.define(Code::IMul, words, {axis(2), m_.constant_word(word(items[1]))});
  const Id subgroup = m_.define(Code::IAdd, words, {axis(1), layers});
  const Id elements = m_.array_of(m_.type_of(unit.accumulator), word(size * items[1] * items[2]));
  Table table;
  table.array = m_.variable(group_memory, elements);
  table.first_of_subgroup = m_.define(Code::IMul, words, {subgroup, m_.constant_word(word(size))});
  table.first_of_item = m_.define(Code::IAdd, words, {table.first_of_subgroup, axis(0)});
  return table;
}

Id Cooperative::type_of_sums(const MatrixUnit& unit) {
  return m_.type_matrix(unit.accumulator, word(unit.rows), word(unit.columns), MatrixUse::Sums);
}

// A tile of a factor has the terms of a line of `a` side by side, and the columns of a term of `b`.
void Cooperative::load(UOp load_matrix, Id array, Id first) {
  const auto& [unit, is_a] = *factors_.find(load_matrix.node());
  const std::int64_t terms = terms_of_instruction(*unit),
                     step = is_a ? terms : terms * unit->columns,
                     row = is_a ? unit->depth : unit->columns;
  const Id type = is_a ? m_.type_matrix(unit->a, word(unit->rows), word(terms), MatrixUse::A)
                       : m_.type_matrix(unit->b, word(terms), word(unit->columns), MatrixUse::B);
  const Id pointer = m_.pointer_to(group_memory, type_in_memory(m_, load_matrix.dtype())),
           order = m_.constant_word(row_after_row), stride = m_.constant_word(word(row)),
           words = m_.type_int(32);
  std::vector<Id> parts;
  for (std::int64_t i = 0; i < unit->instructions; i++) {
    const Id at =
        i == 0 ? first : m_.define(Code::IAdd, words, {first, m_.constant_word(word(i * step))});
    const Id place = m_.define(Code::AccessChain, pointer, {array, at});
    parts.push_back(
        m_.define(Code::CooperativeMatrixLoad, type, {place, order, stride, m_.shared_operand()}));
  }
  parts_[load_matrix.node()] = std::move(parts);
}

// What a unit adds products to, or what it has come to.
Id Cooperative::matrix(UOp sums, const MatrixUnit& unit) {
  const Id type = type_of_sums(unit);
  if (sums.is_const(0)) return m_.constant_of_all(type, m_.constant(0, unit.accumulator));
  const UOp of = sums.is(Op::Load) ? buffer_of(sums.src(0)) : sums;
  const Id* known = sums_.find(of.node());
  ensure(known != nullptr, "unit {}: sums begin with what is not its own", unit.name);
  return of.is(Op::Register) ? m_.define(Code::Load, type, {*known}) : *known;
}

void Cooperative::contract(UOp u) {
  const MatrixUnit& unit = unit_of(u);
  const std::vector<Id>&a = *parts_.find(u.src(1).node()), &b = *parts_.find(u.src(2).node());
  const Id type = type_of_sums(unit);
  Id sums = matrix(u.src(0), unit);
  for (std::size_t i = 0; i < a.size(); i++) {
    sums = is_float(unit.a)
               ? m_.define(Code::CooperativeMatrixMulAdd, type, {a[i], b[i], sums})
               : m_.define(Code::CooperativeMatrixMulAdd, type, {a[i], b[i], sums, signs_of(unit)});
  }
  sums_[u.node()] = sums;
}

void Cooperative::store(UOp reg, UOp value) {
  const MatrixUnit& unit = **units_of_sums_.find(reg.node());
  m_.line(Code::Store, {*sums_.find(reg.node()), matrix(value, unit)});
}

Id Cooperative::element_of(const Table& table, DType t, Id place) {
  return m_.define(Code::AccessChain, m_.pointer_to(group_memory, m_.type_of(t)),
                   {table.array, place});
}

// Nobody but the subgroup, which has a part of the array for itself, waits.
std::vector<Id> Cooperative::elements(UOp sums) {
  const MatrixUnit& unit =
      sums.is(Op::Register) ? **units_of_sums_.find(sums.node()) : unit_of(sums);
  const Table& table = *tables_.find(&unit);
  const DType t = unit.accumulator;
  m_.line(
      Code::CooperativeMatrixStore,
      {element_of(table, t, table.first_of_subgroup), matrix(sums, unit),
       m_.constant_word(row_after_row), m_.constant_word(word(unit.columns)), m_.shared_operand()});
  m_.meet(scope_subgroup);
  std::vector<Id> result;
  const std::int64_t lanes = places_of_thread(unit, unit.places_of_sums);
  for (std::int64_t lane = 0; lane < lanes; lane++) {
    const Id offset = m_.constant_word(word(place_of_sum(unit, 0, lane)));
    const Id place = m_.define(Code::IAdd, m_.type_int(32), {table.first_of_item, offset});
    result.push_back(m_.load(m_.type_of(t), element_of(table, t, place), true));
  }
  m_.meet(scope_subgroup);  // before the array is written again
  return result;
}

}  // namespace croze::spirv
