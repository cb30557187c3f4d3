// What moves numbers moves their bits: -0 stays -0, whatever stands around it and wherever the
// numbers come from.
#include <bit>
#include <cmath>
#include <limits>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using namespace indexing;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> floats_of(const Tensor& x) { return x.to_vector<float>(); }

void expect_bits(const Tensor& got, const std::vector<float>& expected, const char* what) {
  const std::vector<float> values = floats_of(got);
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < values.size(); i++) {
    const bool same = std::isnan(expected[i])
                          ? std::isnan(values[i])
                          : std::bit_cast<int>(values[i]) == std::bit_cast<int>(expected[i]);
    EXPECT_TRUE(same) << what << ": " << values[i] << " instead of " << expected[i] << " at " << i;
  }
}

constexpr std::int64_t rows = 4, columns = 6;

// 24 numbers: many zeros of both signs, and what a product with 0 would spoil.
std::vector<float> numbers() {
  std::vector<float> values;
  const float kinds[] = {-0.F, 0.F, -0.F, 1.5F, -infinity, -0.F, nan};
  for (int i = 0; i < rows * columns; i++) values.push_back(kinds[(i * 5 + i / 7) % 7]);
  return values;
}

Tensor positions(std::vector<std::int64_t> at) {
  const std::int64_t count = std::ssize(at);
  return Tensor::from_data(std::move(at), {count});
}

struct Movement {
  const char* name;
  Tensor (*move)(const Tensor& x);
};

Tensor with(const Tensor& x, void (*change)(Tensor&)) {
  Tensor y = x.contiguous();
  change(y);
  return y;
}

// What each does is seen from positions, counted from 1, that it moves: 0 is what it fills in.
const Movement movements[] = {
    {"pad",
     [](const Tensor& x) {
       return pad(x, {1, 2, 3, 0});
     }},
    {"pad, reflected",
     [](const Tensor& x) {
       return pad(x, {2, 1, 1, 0}, PadMode::Reflect);
     }},
    {"pad, circular",
     [](const Tensor& x) {
       return pad(x, {2, 1, 1, 0}, PadMode::Circular);
     }},
    {"cat",
     [](const Tensor& x) {
       return cat({x, x.flip(0), x.narrow(0, 1, 2)});
     }},
    {"cat of many",
     [](const Tensor& x) {
       std::vector<Tensor> parts;
       for (int i = 0; i < 20; i++) parts.push_back(x.narrow(1, i % 5, 1));
       return cat(parts, 1);
     }},
    {"stack",
     [](const Tensor& x) {
       return stack({x, roll(x, {1}, {1})}, 1);
     }},
    {"block_diag",
     [](const Tensor& x) {
       return block_diag(std::vector{x, x.transpose()});
     }},
    {"diag_embed", [](const Tensor& x) { return diag_embed(x, 1); }},
    {"diagonal", [](const Tensor& x) { return diagonal(x, 1); }},
    {"triu", [](const Tensor& x) { return triu(x); }},
    {"tril", [](const Tensor& x) { return tril(x, -1); }},
    {"tile",
     [](const Tensor& x) {
       return tile(x, {2, 2});
     }},
    {"repeat_interleave", [](const Tensor& x) { return repeat_interleave(x, 2, 1); }},
    {"unfold", [](const Tensor& x) { return unfold(x, 1, 3, 2); }},
    {"slice",
     [](const Tensor& x) {
       return x.slice(1, {std::nullopt, std::nullopt, -2});
     }},
    {"index",
     [](const Tensor& x) {
       return x.index({positions({3, 0, -1})});
     }},
    {"gather",
     [](const Tensor& x) {
       return gather(x, 0, positions({2, 0, 1, 3, 1, 1}).reshape({1, 6}));
     }},
    {"take",
     [](const Tensor& x) {
       return take(x, positions({23, 0, 11, 4}));
     }},
    {"embedding",
     [](const Tensor& x) {
       return embedding(x, positions({2, 0, 3}));
     }},
    {"masked_select",
     [](const Tensor& x) {
       return masked_select(x, Tensor::arange(rows * columns).reshape({rows, columns}) % 3 == 1);
     }},
    {"scatter",
     [](const Tensor& x) {
       return scatter(x, 0, positions({0, 1, 2, 3, 3, 0}).reshape({1, 6}), x.narrow(0, 2, 1));
     }},
    {"index_copy",
     [](const Tensor& x) {
       return index_copy(x, 0, positions({0, 2}), x.narrow(0, 1, 2));
     }},
    {"slice_scatter",
     [](const Tensor& x) {
       return slice_scatter(x, x.narrow(1, 0, 3), 1, {std::nullopt, std::nullopt, 2});
     }},
    {"diagonal_scatter", [](const Tensor& x) { return diagonal_scatter(x, x.select(1, 5)); }},
    {"masked_scatter",
     [](const Tensor& x) {
       return masked_scatter(x, Tensor::arange(rows * columns).reshape({rows, columns}) % 4 == 1,
                             x.flip(0));
     }},
    {"where",
     [](const Tensor& x) { return where(Tensor::arange(columns) % 2 == 0, x, x.flip(0)); }},
    {"a row assigned",
     [](const Tensor& x) { return with(x, [](Tensor& y) { y[1] = y[3].contiguous(); }); }},
    {"a row of what is not in memory",
     [](const Tensor& x) {
       Tensor y = x.flip(0);
       y[1] = x[3];
       return y;
     }},
    {"columns of what is not in memory",
     [](const Tensor& x) {
       Tensor y = x.flip(0);
       y.slice(1, {1, std::nullopt, 2}) = x.narrow(1, 0, 3);
       return y;
     }},
    {"a window of what is not in memory",
     [](const Tensor& x) {
       Tensor y = x.flip(0);
       y.unfold(1, 2, 2).select(1, 1) = x.narrow(1, 1, 2);
       return y;
     }},
    {"all windows of what is not in memory",
     [](const Tensor& x) {
       Tensor y = x.flip(0);
       y.narrow(1, 1, 5).unfold(1, 2, 3) = x.narrow(1, 0, 4).reshape({4, 2, 2});
       return y;
     }},
    {"one repetition of what is not in memory",
     [](const Tensor& x) {
       Tensor y = x.flip(0);
       y.reshape({4, 1, 6}).expand({4, 3, 6}).select(1, 2) = x;
       return y;
     }},
    {"rows by position",
     [](const Tensor& x) {
       return with(x, [](Tensor& y) {
         y.index_put_({positions({0, 3})}, y.narrow(0, 1, 2).contiguous());
       });
     }},
};

void expect_bits_moved(const Tensor& source, const char* kind) {
  const std::vector<float> values = numbers();
  for (const Movement& m : movements) {
    SCOPED_TRACE(kind);
    const Tensor counted = Tensor::arange(1, rows * columns + 1, 1, {.dtype = DType::Float32});
    std::vector<float> expected;
    for (float p : floats_of(m.move(counted.reshape({rows, columns}).contiguous().realize()))) {
      expected.push_back(p == 0 ? 0 : values[static_cast<std::size_t>(p) - 1]);
    }
    expect_bits(m.move(source), expected, m.name);
  }
}

Tensor in_memory() { return Tensor::from_data(numbers(), {rows, columns}); }

TEST(SignedZero, IsMovedInMemory) { expect_bits_moved(in_memory(), "in memory"); }

TEST(SignedZero, IsMovedAsItIsComputed) {
  const Tensor negative = (-in_memory()).realize();
  expect_bits_moved(-negative, "computed");
}

TEST(SignedZero, IsMovedOnItsWayThroughHalfTypes) {
  expect_bits_moved(in_memory().cast(DType::BFloat16).cast(DType::Float32), "bfloat16");
}

}  // namespace
}  // namespace croze
