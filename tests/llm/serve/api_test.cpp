// Bodies of requests to bodies of answers, as OpenAI's clients read them.
#include "croze/llm/serve/api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

struct ApiTest : testing::Test {
  static ApiOptions options() {
    ApiOptions options;
    options.name = "small";
    return options;
  }
  static std::string all_of(Exchange& exchange) {
    exchange.wait_until_begun();
    std::string text;
    while (auto bytes = exchange.next(10s)) text += *bytes;
    return text;
  }
  Json chat(const Json& body) { return Json::parse(all_of(*api.chat(body.dump()))); }
  // The objects of a stream, which ends as it should.
  static std::vector<Json> events_of(const std::string& text) {
    std::vector<Json> events;
    std::size_t at = 0;
    for (std::size_t end; (end = text.find("\n\n", at)) != std::string::npos; at = end + 2) {
      EXPECT_EQ(text.substr(at, 6), "data: ");
      const std::string data = text.substr(at + 6, end - at - 6);
      if (data == "[DONE]") {
        EXPECT_EQ(end + 2, text.size());
        return events;
      }
      events.push_back(Json::parse(data));
    }
    ADD_FAILURE() << "no end: " << text;
    return events;
  }
  static Json asking(const char* text, Json more = Json::object()) {
    Json body{{"messages", {{{"role", "user"}, {"content", text}}}},
              {"max_tokens", 6},
              {"temperature", 0}};
    body.update(more);
    return body;
  }

  std::unique_ptr<const LanguageModel> model = LanguageModel::load(LANGUAGE_MODELS "/talking.gguf");
  Api api{*model, options()};
};

TEST_F(ApiTest, AConversation) {
  const Json json = chat(asking("abba"));
  EXPECT_EQ(json.at("object"), "chat.completion");
  EXPECT_EQ(json.at("model"), "small");
  EXPECT_TRUE(json.at("id").get<std::string>().starts_with("chatcmpl-"));
  const Json& choice = json.at("choices").at(0);
  EXPECT_EQ(choice.at("message").at("role"), "assistant");
  EXPECT_EQ(choice.at("finish_reason"), "length");
  EXPECT_TRUE(choice.at("logprobs").is_null());
  EXPECT_EQ(json.at("usage").at("completion_tokens"), 6);
  EXPECT_EQ(json.at("usage").at("total_tokens"),
            json.at("usage").at("prompt_tokens").get<int>() + 6);
}

TEST_F(ApiTest, AStreamSaysTheSame) {
  const std::string whole =
      chat(asking("abba")).at("choices").at(0).at("message").at("content").get<std::string>();
  const auto exchange = api.chat(
      asking("abba", {{"stream", true}, {"stream_options", {{"include_usage", true}}}}).dump());
  EXPECT_TRUE(exchange->is_stream());
  const std::vector<Json> events = events_of(all_of(*exchange));
  ASSERT_GT(events.size(), 3u);
  EXPECT_EQ(events[0].at("choices").at(0).at("delta").at("role"), "assistant");
  std::string text;
  for (const Json& e : events) {
    EXPECT_EQ(e.at("object"), "chat.completion.chunk");
    EXPECT_EQ(e.at("id"), events[0].at("id"));
    for (const Json& c : e.at("choices")) text += c.at("delta").value("content", "");
  }
  EXPECT_EQ(text, whole);
  EXPECT_EQ(events.end()[-2].at("choices").at(0).at("finish_reason"), "length");
  EXPECT_EQ(events.back().at("usage").at("completion_tokens"), 6);
  EXPECT_TRUE(events.back().at("choices").empty());
}

TEST_F(ApiTest, LikelihoodsOfBothKinds) {
  const Json json = chat(asking("abba", {{"logprobs", true}, {"top_logprobs", 2}}));
  const Json& content = json.at("choices").at(0).at("logprobs").at("content");
  ASSERT_EQ(content.size(), 6u);
  EXPECT_EQ(content[0].at("top_logprobs").size(), 2u);
  EXPECT_EQ(content[0].at("top_logprobs").at(0).at("token"), content[0].at("token"));
  EXPECT_LE(content[0].at("logprob").get<double>(), 0);
  const Json text = Json::parse(all_of(
      *api.complete(R"({"prompt": "abba", "max_tokens": 3, "logprobs": 1, "temperature": 0})")));
  const Json& likelihoods = text.at("choices").at(0).at("logprobs");
  EXPECT_EQ(likelihoods.at("tokens").size(), 3u);
  EXPECT_EQ(likelihoods.at("token_logprobs").size(), 3u);
  EXPECT_EQ(likelihoods.at("text_offset").at(0), 0);
}

TEST_F(ApiTest, ATextGoesOn) {
  const char* body = R"({"prompt": "abba", "max_tokens": 5, "temperature": 0})";
  const Json whole = Json::parse(all_of(*api.complete(body)));
  EXPECT_EQ(whole.at("object"), "text_completion");
  std::string text;
  for (const Json& e : events_of(all_of(*api.complete(
           R"({"prompt": "abba", "max_tokens": 5, "temperature": 0, "stream": true})")))) {
    text += e.at("choices").at(0).at("text").get<std::string>();
  }
  EXPECT_EQ(whole.at("choices").at(0).at("text"), text);
}

TEST_F(ApiTest, AnswersAreJsonIfThatIsAskedFor) {
  Json body = asking("abba", {{"response_format", Json::parse(R"({"type": "json_schema",
      "json_schema": {"name": "x", "schema": {"type": "object", "properties":
        {"ok": {"type": "boolean"}}, "required": ["ok"]}}})")}});
  body["max_tokens"] = 60;
  body["logit_bias"] = {{"10", -100}, {"220", -100}};
  const Json choice = chat(body).at("choices").at(0);
  const Json content =
      Json::parse(choice.at("message").at("content").get<std::string>(), nullptr, false);
  ASSERT_TRUE(content.is_object()) << choice;
  EXPECT_TRUE(content.at("ok").is_boolean());
  EXPECT_EQ(choice.at("finish_reason"), "stop");
}

TEST_F(ApiTest, CallsOfToolsAreTakenOutOfTheReply) {
  Json body = asking("abba", {{"grammar",
                               "root ::= \"<tool_call>{\\\"name\\\": \\\"f\\\", "
                               "\\\"arguments\\\": {\\\"x\\\": 1}}</tool_call>\""},
                              {"tools", Json::parse(R"([{"type": "function", "function":
                                                        {"name": "f", "parameters": {}}}])")}});
  body["max_tokens"] = 90;
  const Json choice = chat(body).at("choices").at(0);
  EXPECT_EQ(choice.at("finish_reason"), "tool_calls");
  EXPECT_TRUE(choice.at("message").at("content").is_null());
  const Json& call = choice.at("message").at("tool_calls").at(0);
  EXPECT_EQ(call.at("function").at("name"), "f");
  EXPECT_EQ(call.at("function").at("arguments"), "{\"x\":1}");
  body["stream"] = true;
  const auto events = events_of(all_of(*api.chat(body.dump())));
  EXPECT_EQ(events.back().at("choices").at(0).at("finish_reason"), "tool_calls");
  EXPECT_EQ(events.end()[-2].at("choices").at(0).at("delta").at("tool_calls").at(0).at("index"), 0);
}

TEST_F(ApiTest, SeveralChoicesWholeAndStreamed) {
  Json body = asking("abba", {{"n", 3}, {"seed", 3}, {"temperature", 1}, {"logprobs", true}});
  const Json whole = chat(body);
  ASSERT_EQ(whole.at("choices").size(), 3u);
  std::vector<std::string> expected;
  int tokens = 0;
  for (std::size_t i = 0; i < 3; i++) {
    const Json& choice = whole.at("choices").at(i);
    EXPECT_EQ(choice.at("index"), i);
    expected.push_back(choice.at("message").at("content").get<std::string>());
    tokens += static_cast<int>(choice.at("logprobs").at("content").size());
  }
  EXPECT_EQ(whole.at("usage").at("completion_tokens"), tokens);
  EXPECT_NE(expected[0], expected[1]);
  body["stream"] = true;
  std::vector<std::string> texts(3);
  std::vector<int> roles(3), ends(3);
  for (const Json& e : events_of(all_of(*api.chat(body.dump())))) {
    const Json& choice = e.at("choices").at(0);
    const auto index = choice.at("index").get<std::size_t>();
    roles.at(index) += choice.at("delta").contains("role");
    EXPECT_EQ(ends[index], 0);
    texts[index] += choice.at("delta").value("content", "");
    ends[index] += !choice.at("finish_reason").is_null();
  }
  EXPECT_EQ(texts, expected);
  EXPECT_EQ(roles, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(ends, roles);
}

TEST_F(ApiTest, SeveralTextsGoOn) {
  Json body{{"prompt", "abba"}, {"max_tokens", 4}, {"n", 2}, {"best_of", 2}, {"seed", 1}};
  const Json whole = Json::parse(all_of(*api.complete(body.dump())));
  ASSERT_EQ(whole.at("choices").size(), 2u);
  body["stream"] = true;
  std::vector<std::string> texts(2);
  for (const Json& e : events_of(all_of(*api.complete(body.dump())))) {
    const Json& choice = e.at("choices").at(0);
    texts.at(choice.at("index").get<std::size_t>()) += choice.at("text").get<std::string>();
  }
  for (std::size_t i = 0; i < 2; i++) {
    EXPECT_EQ(whole.at("choices").at(i).at("index"), i);
    EXPECT_EQ(whole.at("choices").at(i).at("text"), texts[i]);
  }
}

// The template of this model does not know of tools, so calls come as JSON alone.
TEST_F(ApiTest, ToolsAreCalledIfThatIsAskedFor) {
  const Json tools = Json::parse(R"([
    {"type": "function", "function": {"name": "turn", "parameters":
      {"type": "object", "properties": {"on": {"$ref": "#/$defs/state"}}, "required": ["on"],
       "$defs": {"state": {"type": "boolean"}}}}},
    {"type": "function", "function": {"name": "stop"}}])");
  Json body = asking("abba", {{"tools", tools}, {"parallel_tool_calls", false}});
  body["max_tokens"] = 90;
  body["logit_bias"] = {{"10", -100}, {"220", -100}};
  for (const Json& choice : {Json("required"), Json::parse(R"({"type": "function",
                                                   "function": {"name": "turn"}})")}) {
    body["tool_choice"] = choice;
    const Json answer = chat(body).at("choices").at(0);
    EXPECT_EQ(answer.at("finish_reason"), "tool_calls");
    ASSERT_EQ(answer.at("message").at("tool_calls").size(), 1u) << answer;
    const Json& call = answer.at("message").at("tool_calls").at(0).at("function");
    const Json arguments = Json::parse(call.at("arguments").get<std::string>());
    if (!choice.is_string()) {
      EXPECT_EQ(call.at("name"), "turn");
    }
    if (call.at("name") == "turn") {
      EXPECT_TRUE(arguments.at("on").is_boolean());
    }
  }
}

TEST_F(ApiTest, ModelsAndWhatIsNotServed) {
  EXPECT_EQ(Json::parse(api.models()).at("data").at(0).at("id"), "small");
  EXPECT_EQ(Json::parse(api.model("small")).at("object"), "model");
  const auto status_of = [](auto function) {
    try {
      function();
    } catch (const Refusal& refusal) {
      EXPECT_EQ(Json::parse(error_body(refusal)).at("error").at("message"), refusal.message());
      return refusal.status();
    }
    return 0;
  };
  EXPECT_EQ(status_of([&] { api.model("large"); }), 404);
  EXPECT_EQ(status_of([&] { api.embed("{}"); }), 400);
  EXPECT_EQ(status_of([&] { api.chat("{"); }), 400);
  EXPECT_EQ(status_of([&] { api.chat(asking(std::string(500, 'x').c_str()).dump()); }), 400);
}

TEST_F(ApiTest, MetricsCountWhatWasServed) {
  chat(asking("abba"));
  const std::string text = api.metrics();
  EXPECT_NE(text.find("croze_requests_running 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("croze_requests_total{end=\"answered\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("croze_answer_tokens_total 6\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace croze::llm::serve
