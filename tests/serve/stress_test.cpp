// A thousand requests in a random order, many of them wrong and many of clients that leave: whoever
// stays gets what is right, and nothing is left behind.  CASES and SEED change what is drawn.
#include <dirent.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "serve/served.h"

namespace croze {
namespace {

using test::Json;
using test::Served;

std::int64_t variable(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

std::int64_t open_files() {
  DIR* folder = opendir("/proc/self/fd");
  std::int64_t count = 0;
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

class Stress : public Served {
 public:
  Stress() : Served("secret", 8) {}

  const httplib::Headers key{{"Authorization", "Bearer secret"}};

  // One request; whether what came back is what had to.
  bool whole(std::mt19937& random) const {
    const auto result =
        post("/v1/chat/completions", asking({{"max_tokens", random() % 30 + 1}}), key);
    if (result && result->status == 429) return true;
    return result && result->status == 200 && Json::accept(result->body);
  }
  bool streamed(std::mt19937& random) const {
    const auto result = post("/v1/completions",
                             Json{{"prompt", std::string(random() % 60 + 1, 'a')},
                                  {"max_tokens", random() % 30 + 1},
                                  {"stream", true}}
                                 .dump(),
                             key);
    if (result && result->status == 429) return true;
    return result && result->status == 200 && result->body.ends_with("data: [DONE]\n\n");
  }
  bool leaves(std::mt19937& random) const {
    httplib::Request request;
    request.method = "POST";
    request.path = "/v1/chat/completions";
    request.headers = key;
    request.body = asking({{"max_tokens", 100}, {"stream", random() % 2 == 0}});
    std::int64_t patience = static_cast<std::int64_t>(random() % 400);
    request.content_receiver = [&](const char*, std::size_t size, std::uint64_t, std::uint64_t) {
      return (patience -= static_cast<std::int64_t>(size)) > 0;
    };
    httplib::Client impatient = client();
    impatient.set_read_timeout(0, static_cast<time_t>(random() % 20'000 + 1));
    impatient.send(request);
    return true;
  }
  bool wrong(std::mt19937& random) const {
    const std::pair<std::string, int> bodies[] = {
        {"{", 400},
        {std::string(200'000, 'x'), 413},
        {asking({{"temperature", -1}}), 400},
        {asking({{"grammar", "root ::= root"}}), 400},
        {Json{{"messages", {{{"role", "user"}, {"content", std::string(3000, 'x')}}}}}.dump(),
         400}};
    const auto& [body, status] = bodies[random() % std::size(bodies)];
    const auto result = post("/v1/chat/completions", body, key);
    return result && result->status == status && Json::parse(result->body).contains("error");
  }
  bool foreign(std::mt19937&) const {
    const auto result = post("/v1/chat/completions", asking(), {{"Authorization", "Bearer x"}});
    return result && result->status == 401;
  }
};

TEST_F(Stress, NothingIsLeftBehind) {
  constexpr bool (Stress::*kinds[])(std::mt19937&)
      const = {&Stress::whole,  &Stress::streamed, &Stress::leaves,
               &Stress::leaves, &Stress::wrong,    &Stress::foreign};
  const std::int64_t cases = variable("CASES", 1000), seed = variable("SEED", 1);
  ASSERT_TRUE(whole(*std::make_unique<std::mt19937>()));
  const std::int64_t files = open_files();
  std::atomic<std::int64_t> next = 0, failed = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; i++) {
    clients.emplace_back([&] {
      for (std::int64_t n; (n = next++) < cases;) {
        std::mt19937 random(static_cast<unsigned>(seed * 1'000'003 + n));
        const std::size_t kind = random() % std::size(kinds);
        if ((this->*kinds[kind])(random)) continue;
        failed++;
        ADD_FAILURE() << "case " << n << " of seed " << seed << ", kind " << kind;
      }
    });
  }
  for (std::thread& t : clients) t.join();
  EXPECT_EQ(failed, 0);
  // Who comes last waits until those that left are gone.
  std::mt19937 random;
  EXPECT_TRUE(streamed(random));
  while (metric("requests_running", key) + metric("requests_queued", key) > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(metric("requests_total{end=\"failed\"}", key), 0);
  EXPECT_GT(metric("requests_total{end=\"cancelled\"}", key), 0);
  EXPECT_GT(metric("requests_total{end=\"answered\"}", key), 0);
  server->stop();
  EXPECT_LE(open_files(), files);
}

}  // namespace
}  // namespace croze
