// Every function on every dtype: claimed ones work and give the dtype that the table says, others
// are refused with an Error that names the function.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/graph/dtype.h"
#include "croze/tensor/op_table.h"

namespace croze {
namespace {

constexpr std::uint64_t seed = 7;

DType expected_dtype(const OpEntry& op, DType t) {
  switch (op.result) {
    case ResultType::Float: return is_float(t) ? t : DType::Float32;
    case ResultType::Sum: return sum_result(t);
    case ResultType::Bool: return DType::Bool;
    case ResultType::Int64: return DType::Int64;
    default: return t;
  }
}

std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    dtypes.push_back(static_cast<DType>(t));
  }
  return dtypes;
}

// Whether a sample has a tensor of the dtype in question, rather than indices or flags only.
bool depends_on_dtype(const OpEntry& op) { return op.samples.find("t(") != std::string_view::npos; }

class OpDTypes : public testing::TestWithParam<DType> {};

TEST_P(OpDTypes, ClaimedOnesWork) {
  const DType t = GetParam();
  for (const OpFamily& family : op_families()) {
    for (const OpEntry& op : family.ops) {
      if (!has_dtype(op.dtypes, t)) continue;
      for (const Values& arguments : sample_arguments(op, t, seed, "INTERP")) {
        try {
          const std::vector<Tensor> got = call_op(op, arguments);
          ASSERT_FALSE(got.empty()) << op.name;
          if (op.result != ResultType::Given) {
            EXPECT_EQ(name_of(got[0].dtype()), name_of(expected_dtype(op, t))) << op.name;
          }
          realize(got);
        } catch (const std::exception& e) {
          ADD_FAILURE() << op.name << ": " << e.what();
        }
      }
    }
  }
}

TEST_P(OpDTypes, OthersAreRefusedWithTheNameOfTheFunction) {
  const DType t = GetParam();
  for (const OpFamily& family : op_families()) {
    for (const OpEntry& op : family.ops) {
      if (has_dtype(op.dtypes, t) || !depends_on_dtype(op)) continue;
      try {
        realize(call_op(op, sample_arguments(op, t, seed, "INTERP")[0]));
        ADD_FAILURE() << op.name << " works on " << name_of(t) << " and does not claim it";
      } catch (const Error& e) {
        EXPECT_FALSE(e.details().op.empty()) << op.name << ": " << e.what();
        EXPECT_NE(std::string_view(e.what()).find(name_of(t)), std::string_view::npos)
            << op.name << " does not name the dtype: " << e.what();
      } catch (const std::exception& e) {
        ADD_FAILURE() << op.name << ": " << e.what();
      }
    }
  }
}

std::string test_name(const testing::TestParamInfo<DType>& info) {
  return std::string(name_of(info.param));
}
INSTANTIATE_TEST_SUITE_P(All, OpDTypes, testing::ValuesIn(all_dtypes()), test_name);

}  // namespace
}  // namespace croze
