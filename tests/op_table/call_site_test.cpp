// Every function names the line of its call, wherever in the library its error is thrown, and
// checked indices find no fault with what the functions do among themselves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/tensor/op_table.h"

namespace croze {
namespace {

constexpr std::uint64_t seed = 11;

// The samples with one of their tensors undefined, each in turn.
std::vector<Values> with_undefined_tensors(const OpEntry& op) {
  std::vector<Values> cases;
  for (const Values& arguments : sample_arguments(op, DType::Float32, seed, "INTERP")) {
    for (std::size_t i = 0; i < arguments.size(); i++) {
      if (!arguments[i].get<Tensor>()) continue;
      cases.push_back(arguments);
      cases.back()[i] = Tensor();
    }
  }
  return cases;
}

TEST(CallSites, OfUndefinedTensorsAreTheLinesOfTheCalls) {
  int errors = 0;
  for (const OpFamily& family : op_families()) {
    for (const OpEntry& op : family.ops) {
      for (const Values& arguments : with_undefined_tensors(op)) {
        try {
          call_op(op, arguments);
        } catch (const Error& e) {
          // The table is what calls here.
          const std::string file = e.details().where.file_name();
          EXPECT_TRUE(file.starts_with("croze/tensor/op_table/")) << op.name << ": " << e.what();
          errors++;
        }
      }
    }
  }
  EXPECT_GT(errors, 400);
}

TEST(CallSites, AreNotOfTheMachineThatBuilt) {
  try {
    call_op(*find_op("reshape"), {{"input", Tensor()}, {"shape", Values{Value(1)}}});
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("/croze/"), std::string::npos) << e.what();
  }
}

TEST(CheckedIndices, FindNoFaultWithTheFunctionsThemselves) {
  const Options::Scope scope{{Option::CheckIndices, true}};
  for (const OpFamily& family : op_families()) {
    for (const OpEntry& op : family.ops) {
      if (!has_dtype(op.dtypes, DType::Float32)) continue;
      for (const Values& arguments : sample_arguments(op, DType::Float32, seed, "INTERP")) {
        try {
          realize(call_op(op, arguments));
        } catch (const std::exception& e) {
          ADD_FAILURE() << op.name << ": " << e.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace croze
