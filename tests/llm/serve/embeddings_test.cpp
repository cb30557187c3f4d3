// Vectors of texts, as OpenAI's clients ask for them.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "croze/llm/serve/api.h"
#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using Vector = std::vector<float>;

struct EmbeddingsApi : testing::Test {
  static ApiOptions options() {
    ApiOptions options;
    options.name = "small";
    options.engine.queue = 2;
    options.engine.parallel = 1;
    return options;
  }
  Json embed(const Json& body) {
    const auto exchange = api.embed(body.dump());
    exchange->wait_until_begun();
    std::string text;
    while (auto bytes = exchange->next(100ms)) text += *bytes;
    return Json::parse(text);
  }
  static std::vector<Vector> vectors_of(const Json& json) {
    std::vector<Vector> vectors;
    for (const Json& one : json.at("data")) {
      EXPECT_EQ(one.at("object"), "embedding");
      EXPECT_EQ(one.at("index"), vectors.size());
      vectors.push_back(one.at("embedding").get<Vector>());
    }
    return vectors;
  }
  // The problem of a request that is refused with this status.
  template <typename F>
  static std::string refused(int status, F function) {
    try {
      function();
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.status(), status) << refusal.message();
      return refusal.message();
    }
    ADD_FAILURE() << "not refused";
    return "";
  }
  std::string refused(const Json& body) {
    return refused(400, [&] { embed(body); });
  }

  std::unique_ptr<const LanguageModel> model = LanguageModel::load(EMBEDDING_MODELS "/bert.gguf");
  Api api{*model, options()};
};

TEST_F(EmbeddingsApi, ATextAndItsTokensAreOne) {
  const Json json = embed({{"input", "abba"}, {"model", "small"}});
  EXPECT_EQ(json.at("object"), "list");
  EXPECT_EQ(json.at("model"), "small");
  EXPECT_EQ(json.at("usage").at("prompt_tokens"), 6);  // [CLS] a b b a [SEP]
  EXPECT_EQ(json.at("usage").at("total_tokens"), 6);
  const std::vector<Vector> vectors = vectors_of(json);
  ASSERT_EQ(vectors.size(), 1u);
  ASSERT_EQ(vectors[0].size(), 32u);
  const std::vector<TokenId> tokens = model->tokenizer.encode("abba");
  EXPECT_EQ(vectors_of(embed({{"input", tokens}})), vectors);
  EXPECT_EQ(vectors_of(embed({{"input", {tokens}}})), vectors);
}

TEST_F(EmbeddingsApi, AListComesInItsOrder) {
  std::vector<std::string> texts;
  for (int i = 0; i < 40; i++) texts.emplace_back(static_cast<std::size_t>(i % 7 + 1), 'b');
  const std::vector<Vector> vectors = vectors_of(embed({{"input", texts}}));
  ASSERT_EQ(vectors.size(), texts.size());
  for (const std::size_t i : {0, 5, 39}) {
    const Vector alone = vectors_of(embed({{"input", texts[i]}})).at(0);
    for (std::size_t k = 0; k < alone.size(); k++) EXPECT_NEAR(vectors[i][k], alone[k], 1e-5f);
  }
}

TEST_F(EmbeddingsApi, Base64HoldsTheSameNumbers) {
  const Vector numbers = vectors_of(embed({{"input", "cab"}})).at(0);
  const std::string text = embed({{"input", "cab"}, {"encoding_format", "base64"}})
                               .at("data")
                               .at(0)
                               .at("embedding")
                               .get<std::string>();
  ASSERT_EQ(text.size(), (numbers.size() * 4 + 2) / 3 * 4);
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255);
  }
  Vector read(numbers.size());
  ASSERT_EQ(bytes.size(), read.size() * sizeof(float));
  std::memcpy(read.data(), bytes.data(), bytes.size());
  EXPECT_EQ(read, numbers);
}

TEST_F(EmbeddingsApi, AShortenedVectorHasLengthOneAgain) {
  const Vector whole = vectors_of(embed({{"input", "cab"}})).at(0);
  const Vector part = vectors_of(embed({{"input", "cab"}, {"dimensions", 8}})).at(0);
  ASSERT_EQ(part.size(), 8u);
  float square = 0;
  for (const float x : part) square += x * x;
  EXPECT_NEAR(square, 1, 1e-5f);
  for (std::size_t i = 1; i < part.size(); i++) {
    EXPECT_NEAR(part[i] * whole[0], whole[i] * part[0], 1e-6f);
  }
}

TEST_F(EmbeddingsApi, WhatIsWrongIsNamed) {
  const auto expect_named = [&](const Json& body, const std::string& part) {
    const std::string problem = refused(body);
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
  };
  expect_named({{"model", "small"}}, "input: it is missing");
  expect_named({{"input", Json::array()}}, "input: a text or 1 to 2048");
  expect_named({{"input", Json::array({Json::array()})}}, "input: it is empty");
  expect_named({{"input", Json::array({true})}}, "input: an element is neither");
  expect_named({{"input", Json::array({1, "a"})}}, "input: a token is an integer");
  expect_named({{"input", Json::array({56})}}, "input 0: token 56: the model has 56");
  expect_named({{"input", {"a", std::string(63, 'a')}}}, "input 1: a text of 65 tokens");
  expect_named({{"input", "a"}, {"encoding_format", "hex"}}, "encoding_format");
  expect_named({{"input", "a"}, {"dimensions", 33}}, "32 dimensions");
  expect_named({{"input", "a"}, {"dimensions", 0}}, "dimensions");
  expect_named({{"input", "a"}, {"inputs", "b"}}, "inputs: there is no such parameter");
}

TEST_F(EmbeddingsApi, AnEncoderDoesNotWrite) {
  const Json chat{{"messages", {{{"role", "user"}, {"content", "abba"}}}}};
  EXPECT_NE(refused(400, [&] { api.chat(chat.dump()); }).find("embeds texts"), std::string::npos);
  EXPECT_NE(refused(400, [&] { api.complete(R"({"prompt": "a"})"); }).find("embeds texts"),
            std::string::npos);
}

TEST_F(EmbeddingsApi, RequestsAreCountedAndThoseThatAreTooManyRefused) {
  const std::string body = Json{{"input", std::vector<std::string>(50, "abba")}}.dump();
  {
    std::vector<std::unique_ptr<Exchange>> open;
    for (int i = 0; i < 3; i++) open.push_back(api.embed(body));
    EXPECT_EQ(api.statistics().running, 3);
    refused(429, [&] { api.embed(body); });
    open[0]->wait_until_begun();
  }
  embed({{"input", "abba"}});
  const EngineStatistics counts = api.statistics();
  EXPECT_EQ(counts.running, 0);
  EXPECT_EQ(counts.cancelled, 3);
  EXPECT_EQ(counts.refused, 1);
  EXPECT_EQ(counts.answered, 1);
  EXPECT_EQ(counts.prompt_tokens, 17 * 6);  // a turn's of the first, and the last
  api.finish();
  refused(503, [&] { api.embed(body); });
}

TEST_F(EmbeddingsApi, ThreadsTakeTurns) {
  const Json body{{"input", std::vector<std::string>(50, "abba")}};
  const std::vector<Vector> expected = vectors_of(embed(body));
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&] { same += vectors_of(embed(body)) == expected ? 1 : 0; });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(same, 3);
}

}  // namespace
}  // namespace croze::llm::serve
