// held_product.h -- products whose factor is made of other products: their threads hold it.
#pragma once

#include <string>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/matrix_unit.h"

namespace croze {

// A value of a tuple that is a reduction along the rows of the held factor.
struct RowReduction {
  UOp reduce;
  UOp term;  // over the loop of the sum, without masks
};

// A sum of products in a tuple, whose factor of the rows is made of a product that a unit makes,
// and of what comes of its rows.
struct HeldProduct {
  UOp tuple, sum;                  // the sum is the last of the tuple's values
  std::vector<RowReduction> rows;  // the other values; the first leads
  UOp terms;                       // of the leader, over the loop of the sum
  UOp product, depth;              // the product in them, and the loop that it is summed over
  UOp a, b;                        // the factors of the sum
};

// Why unit number `unit` cannot add up the products of the loops `rows` x `columns` over `depth`, a
// loop of the tuple's last value; empty if it can.
std::string plan_held(const KernelState& k, UOp rows, UOp columns, UOp depth,
                      const MatrixUnit& unit, HeldProduct* plan);

// The coordinate along an axis of the element that a thread has at a place.
UOp coordinate(const MatrixUnit& unit, std::string_view places, char axis, UOp place, UOp thread);

// Makes the products of a plan.  Returns the loop over threads.
UOp contract_held(KernelState& k, const HeldProduct& plan, UOp rows, UOp columns, UOp depth,
                  const MatrixUnit& unit);

}  // namespace croze
