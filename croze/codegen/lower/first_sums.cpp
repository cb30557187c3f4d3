// first_sums.cpp -- a chain of Contracts has its first sum at the far end.
//
//     add(contract(contract(0, a0, b0), a1, b1), c)
// becomes
//     contract(contract(c, a0, b0), a1, b1)
// which is exact for integers, and an instruction less.
#include "croze/codegen/lower/first_sums.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Whose sums are a vector of one thread, as what is added to them.
bool has_one_row(UOp contract) {
  const MatrixUnit& unit = *find_matrix_unit(contract.arg().as_text());
  return unit.rows == 1 && unit.threads == 1;
}

class FirstSums {
 public:
  explicit FirstSums(UOp sink) : sink_(sink), order_(toposort(sink)) {
    for (UOp u : order_) {
      for (UOp s : u.sources()) uses_[s.node()]++;
    }
  }

  UOp run() const {
    std::vector<std::pair<UOp, UOp>> replacements;
    for (UOp u : order_) {
      if (!u.is(Op::Add) || !is_integer(u.dtype())) continue;
      const int at = u.src(0).is(Op::Contract) ? 0 : 1;
      const UOp first = u.src(1 - at);
      const std::vector<UOp> chain = chain_of(u.src(at));
      if (chain.empty() || !chain.back().ranges().contains_all(first.ranges())) continue;
      replacements.emplace_back(u, begun_with(first, chain));
    }
    return substitute(sink_, replacements);
  }

 private:
  // The Contracts that add to each other, the last one first; none if they add to something, or if
  // others use what one of them has come to.
  std::vector<UOp> chain_of(UOp sum) const {
    std::vector<UOp> chain;
    while (sum.is(Op::Contract)) {
      if (uses_.at(sum.node()) != 1 || !has_one_row(sum)) return {};
      chain.push_back(sum);
      sum = sum.src(0);
    }
    return sum.is_const(0) ? chain : std::vector<UOp>{};
  }

  static UOp begun_with(UOp sum, const std::vector<UOp>& chain) {
    for (std::size_t i = chain.size(); i-- > 0;) {
      std::vector<UOp> operands{sum};
      for (int k = 1; k < chain[i].num_src(); k++) operands.push_back(chain[i].src(k));
      sum = sum.graph().with_sources(chain[i], operands);
    }
    return sum;
  }

  UOp sink_;
  std::vector<UOp> order_;
  std::unordered_map<const Node*, int> uses_;
};

}  // namespace

UOp begin_with_added(UOp sink) { return FirstSums(sink).run(); }

}  // namespace croze
