// Where nodes belong, by the names of parameters.
#include "croze/run/notes/modules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

TEST(ModuleNames, HoldWhatTheyHaveInCommon) {
  EXPECT_EQ(common_module("blocks.0.query", "blocks.0.key"), "blocks.0");
  EXPECT_EQ(common_module("blocks.0", "blocks.0.key"), "blocks.0");
  EXPECT_EQ(common_module("blocks.1", "blocks.10"), "blocks");
  EXPECT_EQ(common_module("head", "header"), whole_model);
  EXPECT_EQ(common_module("head", "body.head"), whole_model);
  EXPECT_EQ(common_module("head", whole_model), whole_model);
  EXPECT_EQ(common_module("head", ""), "head");
  EXPECT_EQ(common_module("", ""), "");
}

TEST(ModuleNames, AreThoseOfParametersWithoutTheLast) {
  EXPECT_EQ(module_of("blocks.0.query.weight"), "blocks.0.query");
  EXPECT_EQ(module_of("weight"), whole_model);
  EXPECT_EQ(module_of(""), "");
}

class NodeModules : public testing::Test {
 protected:
  UOp memory(const std::string& name) {
    names_.push_back(name);
    return graph_.buffer(DType::Float32, std::ssize(names_) - 1, 4, 0);
  }
  std::string module(UOp root) {
    const std::vector<UOp> order = toposort(std::span(&root, 1));
    const Modules modules(
        order, [&](UOp buffer) { return names_[static_cast<std::size_t>(buffer.buffer_id())]; });
    return modules.of(root);
  }

  Graph graph_;
  std::vector<std::string> names_;
};

TEST_F(NodeModules, ParametersDecide) {
  const UOp x = memory("") * memory("first.weight");
  EXPECT_EQ(module(x), "first");
  EXPECT_EQ(module(x * memory("second.weight")), "second");
  EXPECT_EQ(module(x * x), "first");
  EXPECT_EQ(module(memory("") * memory("")), "");
}

TEST_F(NodeModules, WhatIsMadeOfParametersAloneIsOne) {
  const UOp x = memory("") * memory("blocks.0.first.weight");
  const UOp w = memory("blocks.0.second.weight"), scaled = w * memory("blocks.0.second.scale");
  EXPECT_EQ(module(x * scaled), "blocks.0.second");
  EXPECT_EQ(module(x * graph_.alu(Op::Neg, {scaled})), "blocks.0.second");
}

TEST_F(NodeModules, OthersBelongToWhatHoldsTheirInputs) {
  const UOp x = memory("");
  const UOp q = x * memory("blocks.0.query.weight"), k = x * memory("blocks.0.key.weight");
  EXPECT_EQ(module(q * k), "blocks.0");
  EXPECT_EQ(module(q * k + x * memory("blocks.1.key.weight")), "blocks");
  EXPECT_EQ(module(q * k + x * memory("head.weight")), whole_model);
}

}  // namespace
}  // namespace croze
