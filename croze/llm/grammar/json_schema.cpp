// json_schema.cpp -- each part of a schema becomes a rule; parts that wait for theirs are a list.
#include "croze/llm/grammar/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/llm/template/budget.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/printing.h"

namespace croze::llm {
namespace {

using jinja::Dict;
using jinja::Value;

constexpr std::size_t most_parts = 10'000;
constexpr std::int64_t most_elements = 2'000;

// Numbers are short enough for 64 bits and for a double.
constexpr std::string_view common_rules = R"(
ws ::= (" " | "\n" [ \t]{0,20})?
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ws ":" ws value ws
array ::= "[" ws (value ws ("," ws value ws)*)? "]"
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" hex{4})
hex ::= [0-9a-fA-F]
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
number ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?
date ::= [0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])
time ::= ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | [-+] [01] [0-9] ":" [0-5] [0-9])
uuid ::= hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12}
)";

// These say nothing of what is valid, or are read where they are referred to.
constexpr std::string_view annotations[] = {"title",       "description", "default",  "examples",
                                            "$schema",     "$id",         "$comment", "$defs",
                                            "definitions", "deprecated",  "readOnly", "writeOnly"};

std::string json_text(const Value& value) {
  jinja::Budget budget({});
  jinja::TextBuilder text(budget);
  jinja::append_json(value, {.between = ",", .colon = ":"}, text);
  return text.take();
}

// A text of the grammar: "\"name\"".
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

class SchemaGrammar {
 public:
  explicit SchemaGrammar(const Value& schema) : documents_{schema} {}

  std::string write(const std::string& rule) {
    text_ = rule + " ::= ws " + rule_of(documents_[0]) + " ws\n";
    while (!pending_.empty()) {
      const Part part = std::move(pending_.back());
      pending_.pop_back();
      document_ = part.document;
      if (part.schema.dict() && part.schema.dict()->find_name("$id")) {
        document_ = documents_.size();
        documents_.push_back(part.schema);
      }
      text_ += fmt::format("{} ::= {}\n", part.name, alternatives_of(part.name, part.schema));
    }
    return text_ + std::string(common_rules);
  }

 private:
  // Of a document, which is what references inside of it lead through.
  struct Part {
    std::string name;
    Value schema;
    std::size_t document;
  };

  // The name of a rule for a part of the schema, which is written later.
  std::string rule_of(const Value& schema) {
    check(parts_ < most_parts, "schema: it is too large");
    std::string name = fmt::format("part-{}", parts_++);
    pending_.push_back({name, schema, document_});
    return name;
  }

  std::string rule_of_reference(const std::string& reference) {
    const auto known = references_.find({document_, reference});
    if (known != references_.end()) return known->second;
    check(reference == "#" || reference.starts_with("#/"), "schema: the reference {} leads outside",
          shortened(reference));
    Value at = documents_[document_];
    for (std::size_t i = 1; i < reference.size();) {
      const std::size_t end = std::min(reference.find('/', i + 1), reference.size());
      const std::string name = reference.substr(i + 1, end - i - 1);
      const Value* member = at.dict() ? at.dict()->find_name(name) : nullptr;
      check(member != nullptr, "schema: the reference {} leads nowhere", shortened(reference));
      // The copy first: the member lives in what it replaces.
      Value next = *member;
      at = std::move(next);
      i = end;
    }
    return references_[{document_, reference}] = rule_of(at);
  }

  std::string alternatives_of(const std::string& name, const Value& schema) {
    if (schema.is_flag()) {
      check(schema.is_true(), "schema: false allows nothing");
      return "value";
    }
    const Dict* dict = schema.dict();
    check(dict != nullptr, "schema: a part of it is neither an object nor true");
    if (const Value* reference = dict->find_name("$ref")) {
      check(reference->is_text(), "schema: $ref is no text");
      check_keywords(*dict, {"$ref"});
      return rule_of_reference(reference->text());
    }
    if (const Value* constant = dict->find_name("const")) {
      check_keywords(*dict, {"const", "type"});
      return quoted(json_text(*constant));
    }
    if (dict->find_name("enum")) return enumeration(*dict);
    for (const char* of : {"anyOf", "oneOf", "allOf"}) {
      if (dict->find_name(of)) return union_of(*dict, of);
    }
    const Value* type = dict->find_name("type");
    if (!type) return of_type(name, *dict, guessed_type(*dict));
    if (type->is_text()) return of_type(name, *dict, type->text());
    check(type->sequence() && !type->sequence()->elements.empty(),
          "schema: type is neither a text nor a list");
    std::vector<std::string> rules;
    for (const Value& one : type->sequence()->elements) {
      auto members = dict->members();
      std::vector<std::pair<std::string, Value>> changed;
      for (auto& [key, value] : members) {
        changed.emplace_back(key.text(), key.text() == "type" ? one : value);
      }
      rules.push_back(rule_of(Value::dict(std::move(changed))));
    }
    return fmt::format("{}", fmt::join(rules, " | "));
  }

  std::string enumeration(const Dict& dict) {
    check_keywords(dict, {"enum", "type"});
    const auto* values = dict.find_name("enum")->sequence();
    check(values && !values->elements.empty(), "schema: enum is no list of values");
    std::vector<std::string> texts;
    for (const Value& value : values->elements) texts.push_back(quoted(json_text(value)));
    return fmt::format("{}", fmt::join(texts, " | "));
  }

  std::string union_of(const Dict& dict, const char* of) {
    check_keywords(dict, {of, "type"});
    const auto* list = dict.find_name(of)->sequence();
    check(list && !list->elements.empty(), "schema: {} is no list", of);
    check(list->elements.size() == 1 || std::string_view(of) != "allOf",
          "schema: allOf of several is not supported");
    std::vector<std::string> rules;
    for (const Value& one : list->elements) rules.push_back(rule_of(one));
    return fmt::format("{}", fmt::join(rules, " | "));
  }

  static std::string guessed_type(const Dict& dict) {
    if (dict.find_name("properties") || dict.find_name("required")) return "object";
    if (dict.find_name("items")) return "array";
    return "";
  }

  std::string of_type(const std::string& name, const Dict& dict, const std::string& type) {
    if (type == "object") return object(name, dict);
    if (type == "array") return array(dict);
    if (type == "string") return string(dict);
    check_keywords(dict, {"type"});
    if (type.empty()) return "value";
    if (type == "integer" || type == "number") return type;
    if (type == "boolean") return R"("true" | "false")";
    check(type == "null", "schema: there is no type {}", shortened(type));
    return R"("null")";
  }

  std::string string(const Dict& dict) {
    check_keywords(dict, {"type", "minLength", "maxLength", "format"});
    if (const Value* format = dict.find_name("format")) {
      check(format->is_text(), "schema: format is no text");
      check(!dict.find_name("minLength") && !dict.find_name("maxLength"),
            "schema: a format and a length together are not supported");
      const std::string& name = format->text();
      if (name == "date-time") return R"("\"" date "T" time "\"")";
      check(name == "date" || name == "time" || name == "uuid",
            "schema: the format {} is not supported", shortened(name));
      return fmt::format(R"("\"" {} "\"")", name);
    }
    return fmt::format(R"("\"" char{} "\"")", times(dict, "minLength", "maxLength", 0));
  }

  // How often, as a grammar writes it; `before` were there already.
  static std::string times(const Dict& dict, const char* least_name, const char* most_name,
                           std::int64_t before) {
    const auto number = [&](const char* name, std::int64_t otherwise) {
      const Value* value = dict.find_name(name);
      if (!value) return otherwise;
      check(value->is_integer() && value->integer() >= 0 && value->integer() <= most_elements,
            "schema: {} is no number from 0 to {}", name, most_elements);
      return value->integer();
    };
    const std::int64_t least = number(least_name, 0), most = number(most_name, -1);
    check(most < 0 || least <= most, "schema: {} is more than {}", least_name, most_name);
    const std::int64_t rest = std::max<std::int64_t>(least - before, 0);
    if (most < 0) return rest == 0 ? "*" : fmt::format("{{{},}}", rest);
    return fmt::format("{{{},{}}}", rest, std::max<std::int64_t>(most - before, 0));
  }

  std::string array(const Dict& dict) {
    check_keywords(dict, {"type", "items", "minItems", "maxItems"});
    const Value* items = dict.find_name("items");
    const std::string item = items ? rule_of(*items) : "value";
    const Value* least = dict.find_name("minItems");
    const Value* most = dict.find_name("maxItems");
    const std::string more = times(dict, "minItems", "maxItems", 1);
    if (most && most->integer() == 0) return R"("[" ws "]")";
    const bool may_be_empty = !least || least->integer() == 0;
    return fmt::format(R"("[" ws ({} ws ("," ws {} ws){}){} "]")", item, item, more,
                       may_be_empty ? "?" : "");
  }

  // Members in their order, each of two rules: what may follow where nothing came before, and where
  // something did.
  std::string object(const std::string& name, const Dict& dict) {
    check_keywords(dict, {"type", "properties", "required", "additionalProperties"});
    const Value* properties = dict.find_name("properties");
    check(!properties || properties->dict(), "schema: properties is no object");
    const std::set<std::string> required = required_of(dict, properties);
    const std::optional<std::string> others = rule_of_others(dict, properties);
    const std::size_t count = properties ? properties->dict()->members().size() : 0;
    const auto rest = [&](std::size_t i, const char* which) {
      return fmt::format("{}-{}{}", name, which, i);
    };
    for (std::size_t i = 0; i < count; i++) {
      const auto& [key, schema] = properties->dict()->members()[i];
      const std::string member = fmt::format(R"({} ws ":" ws {} ws {})", quoted(json_text(key)),
                                             rule_of(schema), rest(i + 1, "then"));
      const bool must_be = required.contains(key.text());
      text_ += fmt::format("{} ::= {}{}\n", rest(i, "first"), member,
                           must_be ? "" : " | " + rest(i + 1, "first"));
      text_ += fmt::format("{} ::= \",\" ws {}{}\n", rest(i, "then"), member,
                           must_be ? "" : " | " + rest(i + 1, "then"));
    }
    const std::string other = others ? fmt::format(R"(string ws ":" ws {} ws)", *others) : "";
    text_ += fmt::format("{} ::= {}\n", rest(count, "first"),
                         others ? fmt::format(R"(({} ("," ws {})*)?)", other, other) : R"("")");
    text_ += fmt::format("{} ::= {}\n", rest(count, "then"),
                         others ? fmt::format(R"(("," ws {})*)", other) : R"("")");
    return fmt::format(R"("{{" ws {} "}}")", rest(0, "first"));
  }

  static std::set<std::string> required_of(const Dict& dict, const Value* properties) {
    std::set<std::string> names;
    const Value* required = dict.find_name("required");
    if (!required) return names;
    check(required->sequence() != nullptr, "schema: required is no list");
    for (const Value& name : required->sequence()->elements) {
      check(name.is_text(), "schema: required is no list of texts");
      check(properties && properties->dict()->find_name(name.text()),
            "schema: {} is required and not among the properties", shortened(name.text()));
      names.insert(name.text());
    }
    return names;
  }

  // The rule of the values of members that the schema does not name, if there may be some.
  std::optional<std::string> rule_of_others(const Dict& dict, const Value* properties) {
    const Value* others = dict.find_name("additionalProperties");
    if (!others) return properties ? std::nullopt : std::optional<std::string>("value");
    if (others->is_flag()) {
      return others->is_true() ? std::optional<std::string>("value") : std::nullopt;
    }
    return rule_of(*others);
  }

  static void check_keywords(const Dict& dict, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : dict.members()) {
      const std::string& name = key.text();
      const bool is_known = std::ranges::find(known, name) != known.end() ||
                            std::ranges::find(annotations, name) != std::end(annotations);
      check(is_known, "schema: the keyword {} is not supported here", shortened(name));
    }
  }

  std::vector<Value> documents_;
  std::size_t document_ = 0;  // of the part that is being written
  std::string text_;
  std::vector<Part> pending_;
  std::map<std::pair<std::size_t, std::string>, std::string> references_;
  std::size_t parts_ = 0;
};

}  // namespace

std::string json_object_grammar() { return "root ::= ws object ws\n" + std::string(common_rules); }

std::string json_schema_grammar(const Value& schema, const std::string& rule) {
  return SchemaGrammar(schema).write(rule);
}

}  // namespace croze::llm
