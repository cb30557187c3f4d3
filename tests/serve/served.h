// served.h -- a server of the small model, and a client.
#pragma once

#include <gtest/gtest.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <string>

#include "serve/http_server.h"

namespace croze::test {

using Json = nlohmann::json;

struct Served : testing::Test {
  explicit Served(std::string key = {}, std::size_t queue = 16)
      : api(*model, options(queue)),
        server(std::make_unique<tool::HttpServer>(api, http_options(std::move(key)))) {}

  static llm::serve::ApiOptions options(std::size_t queue) {
    llm::serve::ApiOptions options;
    options.name = "small";
    options.engine.queue = queue;
    return options;
  }
  static tool::HttpOptions http_options(std::string key) {
    tool::HttpOptions options;
    options.port = 0;
    options.key = std::move(key);
    options.body = 100'000;
    return options;
  }

  httplib::Client client() const {
    httplib::Client result("127.0.0.1", server->port());
    result.set_read_timeout(60);
    return result;
  }
  httplib::Result post(const std::string& path, const std::string& body,
                       const httplib::Headers& headers = {}) const {
    return client().Post(path, headers, body, "application/json");
  }
  static std::string asking(Json more = Json::object()) {
    Json body{{"messages", {{{"role", "user"}, {"content", "abba"}}}}, {"max_tokens", 6}};
    body.update(more);
    return body.dump();
  }
  // The number of a line of /metrics.
  std::int64_t metric(const std::string& name, const httplib::Headers& headers = {}) const {
    const std::string text = client().Get("/metrics", headers)->body;
    const std::size_t at = text.find("\ncroze_" + name + " ");
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + name.size() + 8));
  }
  // The error that an answer is, in OpenAI's form.
  static Json error_of(const httplib::Result& result, int status) {
    EXPECT_TRUE(result) << httplib::to_string(result.error());
    if (!result) return {};
    EXPECT_EQ(result->status, status) << result->body;
    const Json json = Json::parse(result->body, nullptr, false);
    EXPECT_TRUE(json.is_object() && json.contains("error")) << result->body;
    if (!json.is_object() || !json.contains("error")) return {};
    for (const char* member : {"message", "type", "param", "code"}) {
      EXPECT_TRUE(json.at("error").contains(member)) << result->body;
    }
    return json.at("error");
  }

  std::unique_ptr<const llm::LanguageModel> model =
      llm::LanguageModel::load(LANGUAGE_MODELS "/talking.gguf");
  llm::serve::Api api;
  std::unique_ptr<tool::HttpServer> server;
};

}  // namespace croze::test
