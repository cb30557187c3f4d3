// The op table itself: names, parameters, values, calls by name.
#include <gtest/gtest.h>

#include "croze/tensor/op_table.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

TEST(OpTable, EveryRowIsWellFormed) {
  for (const OpFamily& family : op_families()) {
    for (const OpEntry& op : family.ops) {
      EXPECT_EQ(find_op(op.name), &op);
      EXPECT_EQ(parameter_names(op).size(), op.function->parameter_types.size()) << op.name;
      EXPECT_NE(op.dtypes, 0u) << op.name;
      EXPECT_FALSE(sample_arguments(op, DType::Float32, 1).empty()) << op.name;
      EXPECT_TRUE(op.doc.ends_with('.')) << op.name;
    }
  }
  EXPECT_EQ(find_op("no such op"), nullptr);
}

TEST(OpTable, CallsByName) {
  const Tensor x = Tensor::from_data({1., 2., 3., 4.}, {2, 2});
  expect_numbers(call_op(*find_op("sum"), {{"input", x}, {"dim", 1}})[0], {3, 7});
  expect_numbers(call_op(*find_op("add"), {{"input", x}, {"other", 1}, {"alpha", 2}})[0],
                 {3, 4, 5, 6});
  EXPECT_EQ(call_op(*find_op("split"), {{"tensor", x}, {"split_size_or_sections", 1}}).size(), 2u);
}

TEST(OpTable, SaysWhatIsWrongWithACall) {
  const OpEntry& softmax = *find_op("softmax");
  const Tensor x = Tensor::zeros({2});
  EXPECT_NE(error_of([&] {
              call_op(softmax, {{"input", x}});
            }).find("'dim' is missing"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              call_op(softmax, {{"input", x}, {"dim", 0}, {"axis", 0}});
            }).find("only 2 of them"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              call_op(softmax, {{"input", x}, {"dim", "0"}});
            }).find("expected an integer, not a text"),
            std::string::npos);
}

TEST(OpTable, SignaturesComeFromTheFunctions) {
  EXPECT_EQ(signature_of(*find_op("squeeze")), "Tensor (Tensor input, Shape dim=none)");
}

TEST(OpTable, SamplesAreTheSameForTheSameSeed) {
  const OpEntry& op = *find_op("add");
  const auto tensor_of = [&](std::uint64_t seed) {
    return sample_arguments(op, DType::Float64, seed)[0][0].get<Tensor>()->to_vector<double>();
  };
  EXPECT_EQ(tensor_of(5), tensor_of(5));
  EXPECT_NE(tensor_of(5), tensor_of(6));
}

}  // namespace
}  // namespace croze
