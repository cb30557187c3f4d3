// croze viz and croze profile, of a trace, as a user runs them.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/command.h"

extern char** environ;

namespace croze {
namespace {

using namespace croze::test;

constexpr const char* step = TRACES "/step.trace";

class Viz : public Command {};

TEST_F(Viz, WritesAPageAndExports) {
  const Outcome outcome = run(std::string("viz ") + step + " --html " + path("page.html") +
                              " --chrome " + path("chrome.json") + " --folded " + path("folded"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(content(path("page.html")).starts_with("<!doctype html>"));
  EXPECT_EQ(nlohmann::json::parse(content(path("chrome.json"))).at("displayTimeUnit"), "ns");
  EXPECT_TRUE(content(path("folded")).starts_with("main;step (net.cpp:7) 1000\n"));
}

TEST_F(Viz, RefusesWhatIsNoTrace) {
  expect_error(run("viz " + file("text", "no trace")), "no trace of croze");
  expect_error(run("viz " + path("missing") + " --html " + path("out.html")), "missing");
}

TEST_F(Viz, ProfilesATrace) {
  const Outcome outcome = run(std::string("profile --json ") + step);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_DOUBLE_EQ(json.at("seconds"), 300e-9);
  EXPECT_EQ(json.at("by_kernel").at(0).at("kernel"), "add");
  EXPECT_EQ(json.at("by_call").at(0).at("call"), "Conv (node \"stem\") + Relu");
  EXPECT_EQ(json.at("by_call").at(1).at("call"), "step (net.cpp:7)");
  EXPECT_EQ(json.at("hot").at(0).at("instructions").at(0).at("instruction"), "xorl\t%eax, %eax");
  EXPECT_EQ(json.at("by_module").at(0).at("module"), "block.0");
  EXPECT_FALSE(json.contains("roof"));  // of the machine that wrote it
  const std::string table = run(std::string("profile ") + step).out;
  EXPECT_NE(table.find("add > mul"), std::string::npos) << table;
  EXPECT_NE(table.find("71.4 %        0:  xorl"), std::string::npos) << table;
}

TEST_F(Viz, TracesAProgram) {
  const std::string program = " -- " CROZE_COMMAND " fuzz graphs --cases 1 --seed 3";
  const Outcome profile = run("profile --json --chrome " + path("events.json") + program);
  EXPECT_EQ(profile.status, 0) << profile.err;
  const std::size_t line = profile.out.rfind("\n{");  // below what the program prints
  ASSERT_NE(line, std::string::npos) << profile.out;
  EXPECT_FALSE(nlohmann::json::parse(profile.out.substr(line)).at("by_kernel").empty());
  EXPECT_TRUE(nlohmann::json::parse(content(path("events.json"))).contains("traceEvents"));
  const Outcome sampled = run("profile --samples" + program);
  EXPECT_EQ(sampled.status, 0) << sampled.err;
  expect_error(run("profile /bin/true"), "has written no trace");
  expect_error(run(std::string("viz ") + step + " more --html " + path("x.html")), "no program");
}

TEST_F(Viz, ProfilesALanguageModel) {
  const Outcome outcome = run("profile --json " LANGUAGE_MODELS "/llama.gguf");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::set<std::string> modules;
  const auto json = nlohmann::json::parse(outcome.out);
  for (const auto& row : json.at("by_module")) modules.insert(row.at("module"));
  // Which matrices share a kernel, which then belongs to the block, depends on the machine.
  for (const char* part : {"blk.0.attn_", "blk.0.ffn_", "output"}) {
    EXPECT_TRUE(std::ranges::any_of(
        modules, [&](const std::string& module) { return module.starts_with(part); }))
        << part << " in " << testing::PrintToString(modules);
  }
}

TEST_F(Viz, ComparesTraces) {
  const std::string options = std::string(" --compare ") + step;
  const Outcome page = run(std::string("viz ") + step + options + " --html " + path("page.html"));
  EXPECT_EQ(page.status, 0) << page.err;
  const Outcome json = run(std::string("profile --json ") + step + options);
  EXPECT_EQ(json.status, 0) << json.err;
  const auto comparison = nlohmann::json::parse(json.out);
  EXPECT_DOUBLE_EQ(comparison.at("base_seconds"), 300e-9);
  EXPECT_EQ(comparison.at("kernels").at(0).at("what"), "same");
  EXPECT_EQ(comparison.at("memory").at(0).at("peak_bytes"), 13312);
  const Outcome table = run(std::string("profile ") + step + options);
  EXPECT_NE(table.out.find("add > mul"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("13312 bytes before"), std::string::npos) << table.out;
  expect_error(run("profile " + std::string(step) + " --compare " + file("text", "x")), "no trace");
  expect_error(run("viz " + std::string(step) + " --compare " + path("missing")), "missing");
}

TEST_F(Viz, ShowsRunsOfAFolder) {
  std::filesystem::create_directory(path("run"));
  std::filesystem::copy(EVENTS "/tensorboard.tfevents", path("run/a.tfevents"));
  const Outcome outcome = run("viz " + folder() + " --html " + path("page.html"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(content(path("page.html")).starts_with("<!doctype html>"));
  expect_error(run("viz " + folder() + " --chrome " + path("c.json")), "are for traces");
}

// ---- measurements over commits ----------------------------------------------------------------

TEST_F(Viz, ShowsMeasurementsOverCommits) {
  file("a.json", R"({"croze-bench": 1, "commit": "abc", "date": "2026", "subject": "s",
       "changed": false, "machine": "m", "figures":
       [{"name": "f", "unit": "ms", "better": "less", "values": [1, 2.5]}]})");
  file("other.json", R"({"suite": "compile"})");
  const Outcome outcome = run("viz --bench " + folder() + " --html " + path("page.html"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(content(path("page.html")).starts_with("<!doctype html>"));
  for (const char* damaged :
       {R"({"croze-bench": 2})", R"({"croze-bench": "1"})", R"({"croze-bench": 1, "commit": 7})",
        R"({"croze-bench": 1, "commit": "abc", "date": "2026", "subject": "s", "changed": false,
            "machine": "m", "figures": [{"name": "f", "unit": "ms", "better": "x", "values": []}]})",
        R"({"croze-bench": 1, "commit": "abc", "date": "2026", "subject": "s", "changed": false,
            "machine": "m", "figures": [[]]})",
        R"(["croze-bench"])"}) {
    file("b.json", damaged);
    expect_error(run("viz --bench " + folder() + " --html " + path("page.html")), "b.json");
  }
}

// ---- the server -------------------------------------------------------------------------------

// The command at work, with the address that it prints.
class Server {
 public:
  explicit Server(const char* what = step) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const char* arguments[] = {CROZE_COMMAND, "viz", what, nullptr};
    EXPECT_EQ(posix_spawn(&process_, CROZE_COMMAND, &actions, nullptr,
                          const_cast<char**>(arguments), environ),
              0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) address_ += c;
    close(ends[0]);
  }
  ~Server() {
    kill(process_, SIGINT);
    int status = 0;
    waitpid(process_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  const std::string& address() const { return address_; }
  std::string host() const { return address_.substr(7, address_.find('/', 7) - 7); }
  std::string path() const { return address_.substr(7 + host().size()); }
  int port() const { return std::stoi(host().substr(host().find(':') + 1)); }

  // All that is answered to these bytes, after which nothing may follow.
  std::string answer(const std::string& request, bool is_all = false) const {
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    EXPECT_EQ(send(s, request.data(), request.size(), MSG_NOSIGNAL), std::ssize(request));
    if (is_all) shutdown(s, SHUT_WR);
    std::string all;
    char bytes[4096];
    for (ssize_t n; (n = recv(s, bytes, sizeof bytes, 0)) > 0;)
      all.append(bytes, static_cast<std::size_t>(n));
    close(s);
    return all;
  }
  std::string get(const std::string& at, const std::string& method = "GET") const {
    return answer(method + " " + at + " HTTP/1.1\r\nHost: " + host() +
                  "\r\nConnection: close\r\n\r\n");
  }

 private:
  pid_t process_ = -1;
  std::string address_;
};

TEST_F(Viz, ServesThePageToWhoKnowsTheAddress) {
  const Server server;
  ASSERT_TRUE(server.address().starts_with("http://127.0.0.1:")) << server.address();
  EXPECT_EQ(server.path().size(), 34U);  // 128 bits
  const std::string page = server.get(server.path());
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200")) << page.substr(0, 200);
  EXPECT_NE(page.find("Cache-Control: no-store"), std::string::npos);
  EXPECT_NE(page.find("<!doctype html>"), std::string::npos);
}

TEST_F(Viz, TellsNothingToOthers) {
  const Server server, another;
  EXPECT_NE(server.path(), another.path());
  std::string almost = server.path();
  almost[almost.size() - 2] = almost[almost.size() - 2] == '0' ? '1' : '0';
  const std::string slash(1, '/');
  for (const std::string& at :
       {slash, almost, another.path(), server.path().substr(0, 20), server.path() + "x",
        "/." + server.path(), std::string("/favicon.ico")}) {
    const std::string answer = server.get(at);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 404")) << at << "\n" << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << at << "\n" << answer;  // nothing behind the head
  }
  EXPECT_TRUE(server.get(server.path(), "DELETE").starts_with("HTTP/1.1 404"));
  EXPECT_EQ(server.answer("no HTTP at all\r\n\r\n", true).find("doctype"), std::string::npos);
}

TEST_F(Viz, ServesEventsFromANumberOn) {
  const Server server(EVENTS);
  const auto events = [&](const std::string& from) {
    const std::string answer = server.get(server.path() + "events" + from);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    return nlohmann::json::parse(answer.substr(answer.find("\r\n\r\n")));
  };
  EXPECT_NE(server.get(server.path()).find("connect-src 'self'"), std::string::npos);
  const auto all = events("?from=0");
  EXPECT_EQ(all.at("events").size(), 7U);
  EXPECT_EQ(all.at("next"), 7);
  EXPECT_EQ(all.at("events").at(2).at("scalar"), 1.0);
  EXPECT_EQ(all.at("events").at(3).at("histogram").at("counts").size(), 3U);
  EXPECT_EQ(events("?from=5").at("events").size(), 2U);
  EXPECT_EQ(events("?from=7").at("events").size(), 0U);
  EXPECT_EQ(events("?from=99999999999999999999").at("events").size(), 7U);
  EXPECT_EQ(events("?from=9223372036854775807").at("next"), 7);
  EXPECT_EQ(events("?from=-3").at("events").size(), 7U);
  EXPECT_EQ(events("?from=x").at("events").size(), 7U);
  EXPECT_TRUE(server.get("/events").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(Server().get(server.path() + "events").starts_with("HTTP/1.1 404"));
}

TEST_F(Viz, ListensOnThisMachineAlone) {
  const Server server;
  char port[8];
  std::snprintf(port, sizeof port, "%04X", static_cast<unsigned>(server.port()));
  const std::string sockets = content("/proc/net/tcp") + content("/proc/net/tcp6");
  EXPECT_NE(sockets.find(std::string("0100007F:") + port), std::string::npos);
  EXPECT_EQ(sockets.find(std::string("00000000:") + port + " 00000000:0000 0A"), std::string::npos);
  EXPECT_EQ(sockets.find(std::string(32, '0') + ":" + port), std::string::npos);
}

}  // namespace
}  // namespace croze
