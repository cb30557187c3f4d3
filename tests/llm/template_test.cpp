// Where chat templates come from, what is said of mistakes in them, and what they may use.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>

#include "croze/io/gguf/value.h"
#include "croze/llm/template/chat_template.h"
#include "croze/llm/tokenizer/tokenizer.h"
#include "support/files.h"
#include "support/mutator.h"

namespace croze::llm {
namespace {

using jinja::Value;
using test::error_of;

ChatInput hello() {
  ChatInput input;
  input.messages = Value::parse(R"([{"role": "user", "content": "Hello"}])");
  return input;
}

std::string rendered(const std::string& source) {
  return ChatTemplate::from_source(source).render(hello());
}

bool says(const std::string& text, const std::vector<const char*>& words) {
  for (const char* word : words) {
    if (text.find(word) == text.npos) return false;
  }
  return true;
}

// ---- files ------------------------------------------------------------------------------------

using ChatTemplateFiles = test::FilesTest;

const char* const simple = "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}";

TEST_F(ChatTemplateFiles, ConfigurationsHaveOneTemplateOrSeveral) {
  const std::string one = file("tokenizer_config.json",
                               R"({"chat_template": "{{ bos_token }}{{ messages[0].content }}",)"
                               R"("bos_token": {"content": "<s>"}, "eos_token": null})");
  EXPECT_EQ(ChatTemplate::load(one).render(hello()), "<s>Hello");
  // The tokenizer beside it leads to the same.
  EXPECT_EQ(ChatTemplate::load(file("tokenizer.json", "{}")).render(hello()), "<s>Hello");
  file("tokenizer_config.json", R"({"chat_template": [{"name": "default", "template": "d"},)"
                                R"({"name": "tool_use", "template": "t{{ tools | length }}"},)"
                                R"({"name": "rag", "template": "r"}]})");
  const ChatTemplate several = ChatTemplate::load(one);
  EXPECT_EQ(several.names(), (std::vector<std::string>{"default", "tool_use", "rag"}));
  ChatInput input = hello();
  EXPECT_EQ(several.render(input), "d");
  input.tools = Value::list({Value::dict({{"name", "f"}})});
  EXPECT_EQ(several.render(input), "t1");
  input.name = "rag";
  EXPECT_EQ(several.render(input), "r");
  input.name = "none";
  EXPECT_TRUE(says(error_of([&] { several.render(input); }), {"\"none\""}));
}

TEST_F(ChatTemplateFiles, ATemplateOfItsOwnCountsForMoreThanTheConfiguration) {
  const std::string config =
      file("tokenizer_config.json", R"({"chat_template": "old", "bos_token": "<s>",)"
                                    R"("eos_token": "</s>"})");
  const std::string source = file("chat_template.jinja", simple);
  EXPECT_EQ(ChatTemplate::load(config).render(hello()), "<s>Hello</s>");
  EXPECT_EQ(ChatTemplate::load(source).render(hello()), "<s>Hello</s>");
}

TEST_F(ChatTemplateFiles, ThatAreNotRightAreNamed) {
  const std::string config = file("tokenizer_config.json", R"({"bos_token": "<s>"})");
  EXPECT_TRUE(says(error_of([&] { ChatTemplate::load(config); }), {"tokenizer_config.json"}));
  for (const char* json : {"[]", "{", R"({"chat_template": 5})", R"({"chat_template": [{}]})",
                           R"({"chat_template": [{"name": "a"}]})", R"({"chat_template": [1]})"}) {
    file("tokenizer_config.json", json);
    EXPECT_TRUE(says(error_of([&] { ChatTemplate::load(config); }), {"tokenizer_config.json"}))
        << json;
  }
  file("tokenizer_config.json", R"({"chat_template": "a\n{{ b | }}"})");
  EXPECT_TRUE(says(error_of([&] { ChatTemplate::load(config); }),
                   {"tokenizer_config.json", "line 2, column 8"}));
  EXPECT_TRUE(says(error_of([&] { ChatTemplate::load(path("none")); }), {"none"}));
}

TEST(ChatTemplates, OfGgufKnowTheTokens) {
  GgufMetadata::Map values;
  values["tokenizer.chat_template"] = std::string(simple);
  values["tokenizer.chat_templates"] = GgufArray{std::vector<std::string>{"tool_use"}};
  values["tokenizer.chat_template.tool_use"] = std::string("tools");
  values["tokenizer.ggml.tokens"] = GgufArray{std::vector<std::string>{"a", "<s>", "</s>"}};
  values["tokenizer.ggml.bos_token_id"] = std::uint32_t{1};
  values["tokenizer.ggml.eos_token_id"] = std::uint32_t{2};
  const ChatTemplate chat = ChatTemplate::from_gguf(GgufMetadata("m.gguf", values));
  EXPECT_EQ(chat.render(hello()), "<s>Hello</s>");
  EXPECT_EQ(chat.names(), (std::vector<std::string>{"default", "tool_use"}));
  values["tokenizer.ggml.eos_token_id"] = std::uint32_t{3};
  const auto load = [&] { ChatTemplate::from_gguf(GgufMetadata("m.gguf", values)); };
  EXPECT_TRUE(says(error_of(load), {"m.gguf", "eos_token_id", "3"}));
  values.erase("tokenizer.chat_template.tool_use");
  EXPECT_TRUE(says(error_of(load), {"m.gguf", "tool_use"}));
  values = {};
  EXPECT_TRUE(says(error_of(load), {"m.gguf", "no chat template"}));
}

TEST(ChatTemplates, TakeTokensFromATokenizer) {
  ChatTemplate chat = ChatTemplate::from_source(simple);
  EXPECT_EQ(chat.render(hello()), "Hello");
  const Tokenizer tokenizer = Tokenizer::load(TOKENIZERS "/llama2.json");
  chat.use_tokens_of(tokenizer);
  EXPECT_EQ(chat.render(hello()), "<s>Hello</s>");
  ChatInput input = hello();
  input.variables = {{"eos_token", "!"}};
  EXPECT_EQ(chat.render(input), "<s>Hello!");
  EXPECT_EQ(
      tokenizer.encode(chat.render(hello()), {.add_special = false, .parse_special = true})[0],
      tokenizer.special().bos);
}

// ---- mistakes ---------------------------------------------------------------------------------

TEST(TemplateErrors, NameLineAndColumn) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"a\n  {{ b.c }}", {"line 2, column 7", "\"b\" is undefined"}},
      {"{{ messages[0].role.x.y }}", {"column 22", "\"x\""}},
      {"{% for m in messages %}\n{{ m.content + 1 }}{% endfor %}",
       {"line 2, column 14", "+ of str and int"}},
      {"\u00e9\u00e9{{ messages | nope }}", {"column 15", "filter \"nope\""}},
      {"{{ 1 is nope }}", {"test \"nope\""}},
      {"{% include 'x' %}", {"column 1", "\"include\" is not supported"}},
      {"{{ raise_exception('Roles must alternate') }}", {"Roles must alternate"}},
      {"{{ 'a'.nope() }}", {"str", "\"nope\""}},
      {"{{ messages.append(1) }}", {"append", "list"}},
      {"{{ f(*messages) }}", {"not supported"}},
      {"{{ 9223372036854775807 + 1 }}", {"64 bits"}},
      {"{{ messages | tojson(indent='x') }}", {"indent"}},
      {"{{ [1, 2)", {"column 9", ")"}},
  };
  for (const auto& [source, words] : cases) {
    const std::string error = error_of([&] { rendered(source); });
    EXPECT_TRUE(says(error, words)) << error;
  }
}

TEST(TemplateErrors, MessagesAreAListAndJsonIsNotDeep) {
  ChatInput input;
  EXPECT_TRUE(says(error_of([&] { ChatTemplate::from_source("").render(input); }), {"list"}));
  EXPECT_TRUE(says(error_of([] { Value::parse(std::string(200, '[')); }), {"deep"}));
  EXPECT_TRUE(says(error_of([] { Value::parse("{\"a\": }"); }), {"JSON"}));
  EXPECT_TRUE(says(error_of([] { Value::parse("18446744073709551615"); }), {"64 bits"}));
}

// ---- hostile templates ------------------------------------------------------------------------

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; i++) result += text;
  return result;
}

std::string doubled(const std::string& start, const std::string& step) {
  return "{% set ns = namespace(s=" + start +
         ") %}{% for i in range(99999) %}{% set ns.s = " + step + " %}{% endfor %}{{ ns.s }}";
}

std::int64_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class Hostile : public testing::TestWithParam<std::string> {};

TEST_P(Hostile, TemplatesEndSoonAndInBoundedMemory) {
  const std::int64_t before = peak_kilobytes();
  const std::clock_t begin = std::clock();
  const std::string error = test::error_if_any([] { rendered(GetParam()); });
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_NE(error, "") << GetParam().substr(0, 80);
  EXPECT_LE(seconds, 60) << GetParam().substr(0, 80);  // sanitizers are slow
  EXPECT_LE(peak_kilobytes() - before, 1 << 20) << GetParam().substr(0, 80);
}

const std::string endless[] = {
    "{% for i in range(10**9) %}x{% endfor %}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "{% for i in range(99999) %}{{ 'a' * 99999 }}{% endfor %}",
    doubled("'a'", "ns.s ~ ns.s"),
    doubled("'a'", "ns.s + ns.s"),
    doubled("'a'", "ns.s.replace('a', 'aaaa')"),
    doubled("'a'", "ns.s | replace('', ns.s)"),
    doubled("'a'", "ns.s.join([ns.s, ns.s])"),
    doubled("[1]", "ns.s + ns.s"),
    doubled("[1]", "[ns.s]"),
    doubled("1", "{'a': ns.s}"),
    doubled("1", "(ns.s, ns.s)"),
    doubled("'a'", "[ns.s, ns.s] | tojson"),
    doubled("'x'", "'%s%s' % (ns.s, ns.s)"),
    doubled("'x'", "'{0}{0}'.format(ns.s)"),
    doubled("[]", "ns.s | list + range(99999) | list"),
    // Parts that many share: small to make, large to print and to compare.
    "{% set a = [1] %}" + repeated("{% set a = [a, a] %}", 90) + "{{ a }}",
    "{% set a = [1] %}{% set b = [1] %}" +
        repeated("{% set a = [a, a] %}{% set b = [b, b] %}", 90) + "{{ a == b }}",
    "{% set a = (1,) %}" + repeated("{% set a = (a, a) %}", 90) + "{{ {a: 1} }}",
    "{% set a = [1] %}" + repeated("{% set a = [a, a] %}", 90) + "{{ a | tojson }}",
    "{{ 'a' * 10**9 }}",
    "{{ 10**9 * 'a' }}",
    "{{ [1] * 10**12 }}",
    "{{ 'a' * 9223372036854775807 }}",
    "{{ 2 ** 10 ** 9 }}",
    "{{ 'x'.center(10**10) }}",
    "{{ 'x'.ljust(10**12) }}",
    "{{ 'x'.zfill(10**12) }}",
    "{{ 'x' | center(10**12) }}",
    "{{ 'x\\nx' | indent(10**12) }}",
    "{{ [1] | tojson(indent=10**12) }}",
    "{{ [[1]] | tojson(indent=9223372036854775807) }}",
    "{{ [1] | batch(10**12, 0) | list }}",
    "{{ [1] | slice(10**12) | list }}",
    "{{ strftime_now('%1000000000Y') }}",
    "{{ 1.0 | round(10**9) }}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% macro f(x) %}{{ f(x + 1) }}{{ f(x + 1) }}{% endmacro %}{{ f(1) }}",
    "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}"
    "{% endmacro %}{{ g() }}",
    "{% set ns = namespace(m=0) %}{% macro a() %}{% macro b() %}x{% endmacro %}{% set ns.m = b %}"
    "{% endmacro %}{{ a() }}{{ ns.m() }}",
    "{{ " + repeated("(", 100'000),
    "{{ " + repeated("[", 50'000) + repeated("]", 50'000) + " }}",
    "{{ " + repeated("not ", 100'000) + "1 }}",
    "{{ " + repeated("-", 100'000) + "1 }}",
    "{{ " + repeated("{1: ", 10'000) + "1" + repeated("}", 10'000) + " }}",
    "{{ " + repeated("a(", 10'000) + repeated(")", 10'000) + " }}",
    "{{ 1" + repeated(" if 1 else 1", 10'000) + " }}",
    "{{ 1" + repeated(" if 1", 10'000) + " }}",
    repeated("{% if 1 %}", 10'000) + repeated("{% endif %}", 10'000),
    repeated("{% for x in [1] %}", 10'000),
    "{% set " + repeated("(", 10'000) + "a" + repeated(")", 10'000) + " = 1 %}",
    "{{ a" + repeated("[a", 10'000) + repeated("]", 10'000) + " }}",
    std::string(2 << 20, 'a'),
};

INSTANTIATE_TEST_SUITE_P(Templates, Hostile, testing::ValuesIn(endless));

// What is long and not deep is fine.
TEST(LongTemplates, AreRead) {
  EXPECT_EQ(rendered("{{ 1" + repeated(" + 1", 50'000) + " }}"), "50001");
  EXPECT_EQ(rendered("{{ 'a'" + repeated(" ~ 'a'", 10'000) + " }}").size(), 10'001u);
  EXPECT_EQ(rendered("{{ 'a'" + repeated(" | upper", 10'000) + " }}"), "A");
  EXPECT_EQ(rendered(repeated("{% if 1 %}a{% endif %}", 10'000)).size(), 10'000u);
  EXPECT_EQ(rendered("{% if 0 %}" + repeated("{% elif 0 %}", 10'000) + "{% else %}b{% endif %}"),
            "b");
}

TEST(Limits, AreThoseOfTheCaller) {
  const ChatTemplate chat = ChatTemplate::from_source("{% for i in range(1000) %}xx{% endfor %}");
  ChatInput input = hello();
  EXPECT_EQ(chat.render(input).size(), 2000u);
  input.limits.output = 1999;
  EXPECT_TRUE(says(error_of([&] { chat.render(input); }), {"1999 bytes"}));
  input.limits = {};
  input.limits.steps = 500;
  EXPECT_TRUE(says(error_of([&] { chat.render(input); }), {"500 steps"}));
  input.limits = {};
  input.limits.bytes = 1000;
  EXPECT_TRUE(says(error_of([&] { chat.render(input); }), {"1000 bytes"}));
}

// ---- templates that are almost right ----------------------------------------------------------

TEST(Mutated, ChatTemplatesPrintOrAreRefusedSoon) {
  test::for_each_mutant(test::good_files(CORPUS "/chat_template"), [](const std::string& source) {
    const std::clock_t begin = std::clock();
    const bool printed = test::error_if_any([&] { rendered(source); }).empty();
    EXPECT_LE(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 60) << source;
    return printed;
  });
}

}  // namespace
}  // namespace croze::llm
