// Grammars of JSON: all that they write parses, and is what the schema says.
#include "croze/llm/grammar/json_schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "llm/grammar/reading.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using Json = nlohmann::json;
using test::accepts;
using test::error_of;
using test::random_text;

Grammar grammar_of(std::string_view schema) {
  return Grammar::parse(json_schema_grammar(jinja::Value::parse(schema)));
}

TEST(JsonGrammar, RandomTextsParse) {
  const Grammar grammar = Grammar::parse(json_object_grammar());
  for (unsigned seed = 0; seed < 300; seed++) {
    const std::string text = random_text(grammar, seed);
    EXPECT_TRUE(Json::parse(text, nullptr, false).is_object()) << text;
  }
}

TEST(JsonGrammar, AcceptsWhatIsJsonAndNothingElse) {
  const Grammar grammar = Grammar::parse(json_object_grammar());
  for (const char* text : {"{}", R"({"a": [1, -2.5e+7, true, null], "\u00e9\n": {"b": "c"}})",
                           "{\n  \"a\": 1\n}", R"({"x": ""})"}) {
    EXPECT_TRUE(accepts(grammar, text)) << text;
  }
  for (const char* text : {"", "[]", "{", "{\"a\"}", "{\"a\": 01}", "{\"a\": .5}", "{\"a\": 1,}",
                           "{'a': 1}", "{\"a\": \"\n\"}", "{\"a\": tru}"}) {
    EXPECT_FALSE(accepts(grammar, text)) << text;
  }
}

TEST(JsonGrammar, SchemasOfObjects) {
  const Grammar grammar = grammar_of(R"({"type": "object", "properties": {
      "name": {"type": "string", "maxLength": 5}, "age": {"type": "integer"},
      "tags": {"type": "array", "items": {"enum": ["a", "b\"", 3]}, "minItems": 1, "maxItems": 2}},
    "required": ["name", "tags"]})");
  EXPECT_TRUE(accepts(grammar, R"({"name": "Ann", "tags": ["a"]})"));
  EXPECT_TRUE(accepts(grammar, R"({"name": "Ann", "age": 7, "tags": ["b\"", 3]})"));
  EXPECT_FALSE(accepts(grammar, R"({"age": 7, "tags": ["a"]})"));
  EXPECT_FALSE(accepts(grammar, R"({"name": "Ann"})"));
  EXPECT_FALSE(accepts(grammar, R"({"name": "Ann", "tags": []})"));
  EXPECT_FALSE(accepts(grammar, R"({"name": "Ann", "tags": ["a", "a", "a"]})"));
  EXPECT_FALSE(accepts(grammar, R"({"name": "Annabel", "tags": ["a"]})"));
  EXPECT_FALSE(accepts(grammar, R"({"name": "Ann", "tags": ["a"], "more": 1})"));
  for (unsigned seed = 0; seed < 200; seed++) {
    const std::string text = random_text(grammar, seed);
    const Json json = Json::parse(text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << text;
    EXPECT_TRUE(json.at("name").is_string());
    EXPECT_TRUE(json.at("tags").size() == 1 || json.at("tags").size() == 2);
    EXPECT_TRUE(!json.contains("age") || json.at("age").is_number_integer());
  }
}

TEST(JsonGrammar, OptionalMembersAndOthers) {
  const Grammar optional =
      grammar_of(R"({"properties": {"a": {"type": "null"}, "b": {"type": "boolean"}}})");
  for (const char* text :
       {"{}", R"({"a": null})", R"({"b": true})", R"({"a": null, "b": false})"}) {
    EXPECT_TRUE(accepts(optional, text)) << text;
  }
  EXPECT_FALSE(accepts(optional, R"({, "b": true})"));
  EXPECT_FALSE(accepts(optional, R"({"b": true, "a": null})"));
  const Grammar others = grammar_of(
      R"({"properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "integer"}})");
  EXPECT_TRUE(accepts(others, R"({"x": 1, "y": 2})"));
  EXPECT_TRUE(accepts(others, R"({"a": null, "x": 1})"));
  EXPECT_FALSE(accepts(others, R"({"x": "1"})"));
}

TEST(JsonGrammar, UnionsReferencesAndFormats) {
  const Grammar tree = grammar_of(R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"anyOf": [
      {"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/tree"}}]}}})");
  EXPECT_TRUE(accepts(tree, "[1, [2, []], 3]"));
  EXPECT_FALSE(accepts(tree, "[1, \"2\"]"));
  const Grammar types = grammar_of(R"({"type": ["string", "null"]})");
  EXPECT_TRUE(accepts(types, "null"));
  EXPECT_TRUE(accepts(types, "\"x\""));
  EXPECT_FALSE(accepts(types, "1"));
  const Grammar constant = grammar_of(R"({"const": {"a": [1, "b"]}})");
  EXPECT_TRUE(accepts(constant, R"({"a":[1,"b"]})"));
  const Grammar date = grammar_of(R"({"type": "string", "format": "date-time"})");
  EXPECT_TRUE(accepts(date, "\"2026-11-23T23:59:00Z\""));
  EXPECT_FALSE(accepts(date, "\"2026-13-23T23:59:00Z\""));
}

TEST(JsonGrammar, WhatASchemaCannotSayHereIsNamed) {
  const auto refused = [](std::string_view schema) {
    return error_of([&] { json_schema_grammar(jinja::Value::parse(schema)); });
  };
  EXPECT_NE(refused(R"({"type": "string", "pattern": "a+"})").find("pattern"), std::string::npos);
  EXPECT_NE(refused(R"({"type": "number", "minimum": 1})").find("minimum"), std::string::npos);
  EXPECT_NE(refused(R"({"$ref": "#/$defs/x"})").find("nowhere"), std::string::npos);
  EXPECT_NE(refused(R"({"$ref": "http://x"})").find("outside"), std::string::npos);
  for (const char* schema :
       {"3", "false", R"({"type": "real"})", R"({"type": []})", R"({"enum": []})",
        R"({"anyOf": 1})", R"({"properties": 1})", R"({"required": ["a"]})",
        R"({"type": "array", "minItems": 3, "maxItems": 2})",
        R"({"type": "string", "format": "email"})", R"({"type": "array", "minItems": -1})"}) {
    refused(schema);
  }
  // Refers to itself and to nothing else: no text is one of it.
  error_of([] { grammar_of(R"({"$ref": "#"})"); });
}

}  // namespace
}  // namespace croze::llm
