// The server as a client of HTTP sees it.
#include <croze/base/error.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "serve/served.h"

namespace croze {
namespace {

using test::Json;
using test::Served;

class Http : public Served {};

TEST_F(Http, AnswersWholeAndInEvents) {
  const auto whole = post("/v1/chat/completions", asking({{"temperature", 0}}));
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->status, 200);
  EXPECT_EQ(whole->get_header_value("Content-Type"), "application/json");
  const auto content = Json::parse(whole->body).at("choices").at(0).at("message").at("content");
  const auto stream = post("/v1/chat/completions", asking({{"temperature", 0}, {"stream", true}}));
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->get_header_value("Content-Type"), "text/event-stream");
  EXPECT_TRUE(stream->body.ends_with("data: [DONE]\n\n"));
  const auto text = post("/v1/completions", R"({"prompt": "abba", "max_tokens": 3})");
  EXPECT_EQ(Json::parse(text->body).at("object"), "text_completion");
}

TEST_F(Http, TellsOfItself) {
  EXPECT_EQ(Json::parse(client().Get("/health")->body).at("status"), "ok");
  EXPECT_EQ(Json::parse(client().Get("/v1/models")->body).at("data").at(0).at("id"), "small");
  EXPECT_EQ(Json::parse(client().Get("/v1/models/small")->body).at("id"), "small");
  EXPECT_EQ(metric("requests_running"), 0);
  EXPECT_EQ(metric("requests_total{end=\"answered\"}"), 0);
  const auto page = client().Get("/");
  EXPECT_TRUE(page->body.starts_with("<!doctype html>"));
  // All that it needs is in it.
  for (const char* outside : {"http:", "https:", "src=", "@import", "url("}) {
    EXPECT_EQ(page->body.find(outside), std::string::npos) << outside;
  }
}

TEST_F(Http, WrongRequestsGetErrorsInOpenAisForm) {
  EXPECT_EQ(error_of(post("/v1/chat/completions", "{"), 400).at("type"), "invalid_request_error");
  EXPECT_EQ(error_of(post("/v1/chat/completions", asking({{"top_p", 2}})), 400).at("param"),
            "top_p");
  EXPECT_EQ(error_of(post("/v1/completions", Json{{"prompt", std::string(2000, 'x')}}.dump()), 400)
                .at("code"),
            "context_length_exceeded");
  error_of(post("/v1/embeddings", "{}"), 400);
  error_of(post("/v1/nothing", "{}"), 404);
  error_of(client().Get("/v1/models/large"), 404);
  error_of(client().Get("/v1/chat/completions"), 404);
  error_of(post("/v1/chat/completions", std::string(200'000, ' ')), 413);
}

TEST_F(Http, PagesOfOtherSitesAreRefused) {
  error_of(post("/v1/chat/completions", asking(), {{"Origin", "http://example.org"}}), 403);
  error_of(client().Get("/v1/models", {{"Host", "example.org"}}), 403);
  const std::string own = server->address();
  EXPECT_EQ(client().Get("/v1/models", {{"Origin", own}})->status, 200);
}

class HttpWithKey : public Served {
 protected:
  HttpWithKey() : Served("secret") {}
};

TEST_F(HttpWithKey, IsForThoseWhoHaveIt) {
  EXPECT_EQ(error_of(post("/v1/chat/completions", asking()), 401).at("code"), "invalid_api_key");
  error_of(post("/v1/chat/completions", std::string(90'000, 'x'), {{"Authorization", "Bearer x"}}),
           401);
  error_of(client().Get("/metrics"), 401);
  EXPECT_EQ(client().Get("/health")->status, 200);
  EXPECT_EQ(client().Get("/")->status, 200);
  EXPECT_EQ(post("/v1/chat/completions", asking(), {{"Authorization", "Bearer secret"}})->status,
            200);
}

TEST_F(Http, OtherMachinesNeedAKey) {
  tool::HttpOptions options = http_options("");
  options.host = "0.0.0.0";
  EXPECT_THROW(tool::HttpServer(api, options), Error);
  options = http_options("");
  options.port = server->port();
  EXPECT_THROW(tool::HttpServer(api, options), Error);
}

TEST_F(Http, AClientThatLeavesFreesItsPlace) {
  const Json endless{{"max_tokens", 120}, {"stream", true}, {"logit_bias", {{"258", -100}}}};
  std::size_t received = 0;
  for (int i = 0; i < 20; i++) {
    httplib::Request request;
    request.method = "POST";
    request.path = "/v1/chat/completions";
    request.body = asking(endless);
    request.content_receiver = [&](const char*, std::size_t size, std::uint64_t, std::uint64_t) {
      received += size;
      return false;  // leaves
    };
    client().send(request);
  }
  EXPECT_GT(received, 0u);
  // The next one is served, and soon nothing is left: others end at the next token that nobody
  // takes.
  EXPECT_EQ(post("/v1/chat/completions", asking())->status, 200);
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto left = [&] { return metric("requests_running") + metric("requests_queued"); };
  while (left() > 0 && std::chrono::steady_clock::now() < late) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(left(), 0);
}

class HttpWithShortQueue : public Served {
 protected:
  HttpWithShortQueue() : Served("", 1) {}
};

TEST_F(HttpWithShortQueue, RefusesWhatItHasNoRoomFor) {
  std::atomic<int> answered = 0, refused = 0, others = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; i++) {
    clients.emplace_back([&] {
      for (int k = 0; k < 5; k++) {
        const auto result = post("/v1/chat/completions", asking({{"max_tokens", 90}}));
        const int status = result ? result->status : 0;
        (status == 200 ? answered : status == 429 ? refused : others)++;
      }
    });
  }
  for (std::thread& t : clients) t.join();
  EXPECT_GT(answered, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(others, 0);
  EXPECT_EQ(metric("requests_total{end=\"refused\"}"), refused);
}

TEST_F(Http, StopsWhenAllIsAnswered) {
  std::atomic<int> whole = 0, refused = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; i++) {
    clients.emplace_back([&] {
      const auto result =
          post("/v1/chat/completions", asking({{"stream", true}, {"max_tokens", 60}}));
      if (result && result->body.ends_with("data: [DONE]\n\n")) whole++;
      if (!result || result->status == 503) refused++;
    });
  }
  while (api.statistics().running == 0 && whole == 0) std::this_thread::yield();
  server->stop();
  for (std::thread& t : clients) t.join();
  EXPECT_GT(whole, 0);
  EXPECT_EQ(whole + refused, 6);
}

}  // namespace
}  // namespace croze
