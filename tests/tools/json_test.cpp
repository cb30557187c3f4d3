// The JSON that programs report: its text, and reading it again.
#include "command_line/json.h"

#include <gtest/gtest.h>

#include <ctime>

#include "croze/base/error.h"

namespace croze {
namespace {

TEST(Json, MembersKeepTheirOrderAndTheirKinds) {
  const Json json{{"name", "relu"}, {"count", 3},    {"mean", 0.5},
                  {"none", Json()}, {"holds", true}, {"shape", std::vector<int>{2, 3}}};
  EXPECT_EQ(json.dump(),
            R"({"name":"relu","count":3,"mean":0.5,"none":null,"holds":true,"shape":[2,3]})");
}

TEST(Json, WhatWasPrintedReadsTheSame) {
  const std::string text = R"({"a":[1,-2.5,"x",null,false],"b":{"c":[]},"large":9007199254740993})";
  const Json json = Json::parse(text);
  EXPECT_EQ(json.dump(), text);
  EXPECT_EQ(json["a"].elements()[0].get<int>(), 1);
  EXPECT_EQ(json["a"].elements()[1].get<double>(), -2.5);
  EXPECT_EQ(json["a"].elements()[2].get<std::string>(), "x");
  EXPECT_FALSE(json["a"].elements()[4].get<bool>());
}

TEST(Json, MembersAndElementsAreMadeWhereThereWasNothing) {
  Json json;
  json["list"].push_back(1);
  json["list"].push_back({{"two", 2}});
  EXPECT_EQ(json.dump(), R"({"list":[1,{"two":2}]})");
  EXPECT_TRUE(json.contains("list"));
  EXPECT_FALSE(json.contains("two"));
}

// An element costs the same, however many there are.
TEST(Json, ArraysGrowSoon) {
  Json json = Json::array();
  const std::clock_t begin = std::clock();
  for (int i = 0; i < 100'000; i++) json.push_back(i);
  EXPECT_EQ(json.elements().size(), 100'000u);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5);
}

TEST(Json, BytesThatAreNoTextAreReplaced) { EXPECT_EQ(Json("a\xff").dump(), "\"a\xef\xbf\xbd\""); }

TEST(Json, WhatIsNotThereIsAnError) {
  const Json json{{"a", 1}};
  EXPECT_THROW(json["b"], InternalError);
  EXPECT_THROW(json["a"].get<std::string>(), InternalError);
  EXPECT_THROW(json["a"].elements(), InternalError);
  EXPECT_THROW(Json::parse("{\"a\":"), Error);
  EXPECT_THROW(Json::parse(std::string(1000000, '[') + std::string(1000000, ']')), Error);
}

}  // namespace
}  // namespace croze
