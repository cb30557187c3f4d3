#include "croze/backends/ptx_interp/warpgroup.h"

#include <bit>

#include "croze/graph/eval.h"

namespace croze::ptx_interp {

void Warpgroup::start() {
  begun_.clear();
  batches_.clear();
}

void Warpgroup::step(const WarpStep& step) {
  if (step.wgmma) return begin(step);
  if (step.batches_left) return await(*step.batches_left);
  batches_.push_back(std::move(begun_));
  begun_.clear();
}

void Warpgroup::require(const std::string& wrong) const {
  if (!wrong.empty()) items_[0].refuse_here(wrong);
}

std::uint64_t Warpgroup::same_in_all(std::int32_t slot) const {
  const auto value = items_[0].get<std::uint64_t>(slot);
  for (const Item& item : items_) {
    if (item.get<std::uint64_t>(slot) != value)
      require("threads of a warpgroup have different descriptors");
  }
  return value;
}

template <typename F>
void Warpgroup::each_element(const Product& p, bool of_a, F f) const {
  const Wgmma& mma = *p.step->wgmma;
  const MatrixDescriptor matrix(of_a ? p.a : p.b);
  const DType t = of_a ? mma.a : mma.b;
  for (std::int64_t line = 0; line < (of_a ? Wgmma::rows : mma.columns); line++) {
    for (std::int64_t term = 0; term < mma.depth; term++)
      f(matrix.place(of_a ? mma.a_by_lines : mma.b_by_lines, t, line, term), size_of(t));
  }
}

void Warpgroup::begin(const WarpStep& step) {
  const Product product{&step, same_in_all(step.a[0]), same_in_all(step.b[0])};
  for (const bool of_a : {true, false}) {
    require(std::string(MatrixDescriptor(of_a ? product.a : product.b).refusal()));
    each_element(product, of_a, [&](std::int64_t byte, std::int64_t count) {
      require(shared_.begin_unit(reader_, byte, count));
    });
  }
  for (Item& item : items_) item.begin_products(step.sums);
  begun_.push_back(product);
}

void Warpgroup::await(std::size_t batches_left) {
  if (batches_.size() <= batches_left) return;
  const auto left = batches_.end() - static_cast<std::ptrdiff_t>(batches_left);
  for (auto batch = batches_.begin(); batch != left; ++batch) {
    for (const Product& p : *batch) land(p);
  }
  batches_.erase(batches_.begin(), left);
}

std::vector<double> Warpgroup::read_factor(const Product& p, bool of_a) {
  const DType t = of_a ? p.step->wgmma->a : p.step->wgmma->b;
  std::vector<double> values;
  each_element(p, of_a, [&](std::int64_t byte, std::int64_t count) {
    require(shared_.end_unit(reader_, byte, count));
    const std::int64_t bits = load_bits(shared_.at(byte), t);
    values.push_back(is_float(t) ? std::bit_cast<double>(bits) : static_cast<double>(bits));
  });
  return values;
}

void Warpgroup::land(const Product& p) {
  const Wgmma& mma = *p.step->wgmma;
  const std::vector<double> rows = read_factor(p, true), columns = read_factor(p, false);
  const auto terms = static_cast<std::size_t>(mma.depth);
  for (std::size_t thread = 0; thread < items_.size(); thread++) {
    Item& item = items_[thread];
    item.end_products(p.step->sums);
    for (std::size_t i = 0; i < p.step->sums.size(); i++) {
      const auto [row, column] =
          sum_place(static_cast<std::int64_t>(thread), static_cast<std::int64_t>(i));
      item.set_sum(
          p.step->sums[i],
          sum_of(mma.sums, item.sum(p.step->sums[i]),
                 std::span(rows).subspan(static_cast<std::size_t>(row) * terms, terms),
                 std::span(columns).subspan(static_cast<std::size_t>(column) * terms, terms)));
    }
  }
}

}  // namespace croze::ptx_interp
