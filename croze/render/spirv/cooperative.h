// cooperative.h -- Op::Contract in SPIR-V: cooperative matrices, of SPV_KHR_cooperative_matrix.
//
// A matrix is a value that the items of a subgroup hold together, and which of its elements one of
// them has nobody knows.  Factors are loaded from arrays of the group.  Sums are variables that no
// item looks into: when they are awaited (Op::AwaitProducts) each subgroup stores them to an array
// of the group, from which each of its items loads those that the record of the unit gives it.
#pragma once

#include <vector>

#include "croze/base/flat_map.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/program.h"
#include "croze/render/spirv/module.h"

namespace croze::spirv {

class Cooperative {
 public:
  Cooperative(Module& module, const LinearProgram& program);

  // Whether the program has any.
  bool is_used() const { return !tables_.empty(); }
  // Whether the Local is an array of factors, whose elements lie there as in memory.
  bool has_factors(UOp local) const { return factor_tiles_.contains(local.node()); }
  // Whether the Register has sums of a unit.
  bool has_sums(UOp reg) const { return units_of_sums_.contains(reg.node()); }
  // Whether what is loaded are sums for a unit, which has them.
  bool is_for_unit(UOp load) const { return for_units_.contains(load.node()); }

  // Declares what all of the function sees; to be called at its beginning.
  void begin();
  // Op::LoadMatrix, of a factor that begins at that element of the array.
  void load(UOp load_matrix, Id array, Id first);
  void contract(UOp u);
  // Sums become those of a Contract, or zeros.
  void store(UOp reg, UOp value);
  // The item's elements of sums, which are a Register or a Contract.
  std::vector<Id> elements(UOp sums);

 private:
  // Where subgroups put sums of a unit for their items.
  struct Table {
    Id array = 0;
    Id first_of_subgroup = 0, first_of_item = 0;  // elements
  };

  struct Factor {
    const MatrixUnit* unit = nullptr;
    bool is_a = false;
  };

  Table table_of(const MatrixUnit& unit);
  Id type_of_sums(const MatrixUnit& unit);
  Id matrix(UOp sums, const MatrixUnit& unit);
  Id element_of(const Table& table, DType t, Id place);

  Module& m_;
  const LinearProgram& program_;
  FlatSet<const Node*> factor_tiles_, for_units_;
  FlatMap<const Node*, const MatrixUnit*> units_of_sums_;  // of Registers
  FlatMap<const Node*, Factor> factors_;                   // of LoadMatrix
  FlatMap<const MatrixUnit*, Table> tables_;
  FlatMap<const Node*, Id> sums_;                // variables of Registers, values of Contracts
  FlatMap<const Node*, std::vector<Id>> parts_;  // of factors, for each instruction
};

}  // namespace croze::spirv
