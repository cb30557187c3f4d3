// Sixty-four clients at once, some of whom leave in the middle of an answer: nobody gets another
// answer than if it were alone, and memory does not grow.  SECONDS says for how long.
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "serve/served.h"
#include "support/sanitizers.h"

namespace croze {
namespace {

using test::Json;
using test::Served;
using Clock = std::chrono::steady_clock;

constexpr int clients = 64;
constexpr std::int64_t most_growth = std::int64_t{32} << 20;  // bytes

std::chrono::seconds duration() {
  const char* text = std::getenv("SECONDS");
  return std::chrono::seconds(text ? std::atoll(text) : 8);
}

std::int64_t bytes_in_memory() {
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

class Crowd : public Served {
 public:
  Crowd() : Served({}, clients) {
    for (std::size_t i = 0; i < 8; i++) {
      const auto result = post("/v1/completions", body(i, false));
      expected.push_back(Json::parse(result->body)["choices"][0]["text"]);
    }
  }

  static std::string body(std::size_t prompt, bool is_streamed) {
    return Json{{"prompt", std::string(3 + 5 * prompt, static_cast<char>('a' + prompt))},
                {"max_tokens", 6 + 3 * prompt},
                {"temperature", 0},
                {"stream", is_streamed}}
        .dump();
  }
  // Refused: who comes while those that left are still in the queue.  That is no answer, and rare.
  enum Got : std::size_t { Right, Wrong, Refused, Lost };

  Got whole(std::size_t prompt) const {
    const auto result = post("/v1/completions", body(prompt, false));
    if (!result) return lost(result.error());
    if (result->status != 200) return result->status == 429 ? Refused : Wrong;
    return judged(prompt, Json::parse(result->body)["choices"][0]["text"]);
  }
  Got streamed(std::size_t prompt) const {
    const auto result = post("/v1/completions", body(prompt, true));
    if (!result) return lost(result.error());
    if (result->status != 200) return result->status == 429 ? Refused : Wrong;
    std::string text;
    std::istringstream lines(result->body);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("data: {")) continue;
      const Json event = Json::parse(line.substr(6));
      if (!event["choices"].empty()) text += event["choices"][0]["text"].get<std::string>();
    }
    return judged(prompt, text);
  }
  Got judged(std::size_t prompt, const std::string& text) const {
    return text == expected[prompt] ? Right : Wrong;
  }
  static Got lost(httplib::Error error) {
    ADD_FAILURE() << "a connection is lost: " << httplib::to_string(error);
    return Lost;
  }
  void leaves(std::size_t prompt, std::mt19937& random) const {
    httplib::Request request;
    request.method = "POST";
    request.path = "/v1/completions";
    request.body = body(prompt, true);
    auto patience = static_cast<std::int64_t>(random() % 600);
    request.content_receiver = [&](const char*, std::size_t size, std::uint64_t, std::uint64_t) {
      return (patience -= static_cast<std::int64_t>(size)) > 0;
    };
    client().send(request);
  }

  std::vector<std::string> expected;
};

TEST_F(Crowd, GetsTheAnswersOfClientsThatAreAlone) {
  const Clock::time_point end = Clock::now() + duration();
  std::array<std::atomic<std::int64_t>, 4> counts{};  // by Got
  std::atomic<std::int64_t> left = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < clients; i++) {
    threads.emplace_back([&, random = std::mt19937(i)]() mutable {
      while (Clock::now() < end) {
        const std::size_t prompt = random() % expected.size(), kind = random() % 3;
        if (kind == 2) {
          leaves(prompt, random);
          left++;
        } else {
          counts[kind == 0 ? whole(prompt) : streamed(prompt)]++;
        }
      }
    });
  }
  std::this_thread::sleep_for(duration() / 4);
  const std::int64_t before = bytes_in_memory();
  for (std::thread& t : threads) t.join();
  const std::int64_t growth = bytes_in_memory() - before;
  EXPECT_EQ(counts[Wrong], 0);
  EXPECT_GT(counts[Right], 20 * counts[Refused]);
  // A sanitizer keeps what is freed for a while.
  if (!CROZE_ASAN) {
    EXPECT_LE(growth, most_growth);
  }
  std::printf("%lld answers, %lld refused, %lld left in the middle; memory %+.1f MB\n",
              static_cast<long long>(counts[Right]), static_cast<long long>(counts[Refused]),
              static_cast<long long>(left), static_cast<double>(growth) * 1e-6);
  EXPECT_EQ(metric("requests_total{end=\"failed\"}"), 0);
}

}  // namespace
}  // namespace croze
