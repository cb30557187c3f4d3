// Requests that are none, drawn at random: each gets the status that it should, or its connection
// is closed, and whoever asks rightly is answered as before.  CASES and SEED change what is drawn.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <initializer_list>
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

// Bytes sent as they are, and whatever comes back.
class Connection {
 public:
  explicit Connection(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(socket_); }

  bool is_open() const { return is_open_; }
  // False if the other side has closed.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end() const { shutdown(socket_, SHUT_WR); }
  // To the end; false if none comes in time.
  bool receive(std::string& text) const {
    char buffer[4096];
    for (;;) {
      const ssize_t got = recv(socket_, buffer, sizeof(buffer), 0);
      if (got == 0) return true;
      if (got < 0) return errno == ECONNRESET;  // else it took too long
      text.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  int socket_;
  bool is_open_;
};

constexpr int closed = 0, hangs = -1;
thread_local int last_status = closed;

class Malformed : public Served {
 public:
  using Random = std::mt19937;

  // The status of the answer, `closed` if there is none, `hangs` if the connection does not end.
  // Whoever has sent all that a request says stays to hear the answer: one who does not is taken to
  // have left.
  int status_of(std::string_view request, bool is_whole = true) const {
    const Connection connection(server->port());
    if (!connection.is_open()) return hangs;
    connection.send(request);
    if (!is_whole) connection.end();
    std::string answer;
    if (!connection.receive(answer)) return hangs;
    if (answer.empty()) return last_status = closed;
    return last_status = answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : hangs;
  }
  static std::string request_of(std::string_view body, std::string_view headers = {},
                                std::string_view path = "/v1/chat/completions",
                                std::string_view method = "POST") {
    return std::string(method) + " " + std::string(path) +
           " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body);
  }
  static std::string noise(Random& random, std::size_t most) {
    std::string bytes(random() % most + 1, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    return bytes;
  }
  bool is_one_of(int status, std::initializer_list<int> right) const {
    return std::ranges::find(right, status) != right.end();
  }

  bool random_bytes(Random& random) const {
    return is_one_of(status_of(noise(random, 2000), false), {closed, 400, 404, 414});
  }
  bool random_body(Random& random) const {
    return status_of(request_of("\x01" + noise(random, 2000))) == 400;
  }
  bool cut_body(Random& random) const {
    const std::string body = asking();
    return status_of(request_of(body.substr(0, random() % body.size()))) == 400;
  }
  // It may still be right, or ask for what is refused.
  bool changed_body(Random& random) const {
    std::string body = asking();
    for (std::size_t n = random() % 4 + 1; n-- > 0;) {
      body[random() % body.size()] = "{}[]\":,0e-\\x"[random() % 12];
    }
    return is_one_of(status_of(request_of(body)), {200, 400, 404});
  }
  // The body is shorter than it says: the sender is gone before its end.
  bool short_body(Random& random) const {
    const std::string request = request_of(asking());
    const std::size_t missing = random() % 60 + 1;
    return is_one_of(status_of(request.substr(0, request.size() - missing), false), {closed, 400});
  }
  bool large_body(Random& random) const {
    return is_one_of(status_of(request_of(std::string(100'001 + random() % 100'000, 'x'))),
                     {closed, 413});
  }
  bool deep_body(Random& random) const {
    return status_of(request_of(std::string(random() % 50'000 + 1, '['))) == 400;
  }
  bool huge_header(Random& random) const {
    const std::string header = "X-Long: " + std::string(9'000 + random() % 60'000, 'h') + "\r\n";
    return is_one_of(status_of(request_of(asking(), header)), {closed, 400, 431});
  }
  // Some releases of cpp-httplib count them.
  bool many_headers(Random& random) const {
    std::string headers;
    for (std::size_t n = 200 + random() % 500; n-- > 0;) headers += "X-Many: 1\r\n";
    const std::string request = request_of(asking({{"max_tokens", 1}}), headers);
    return is_one_of(status_of(request), {closed, 200, 400, 429, 431});
  }
  bool long_path(Random& random) const {
    const std::string path = "/" + std::string(9'000 + random() % 20'000, 'p');
    return is_one_of(status_of(request_of("", {}, path)), {closed, 400, 414});
  }
  bool other_path(Random& random) const {
    const std::string path = "/v1/none" + std::to_string(random());
    return status_of(request_of(asking(), {}, path)) == 404;
  }
  bool other_method(Random& random) const {
    const char* methods[] = {"PUT", "PATCH", "DELETE", "GET"};
    return is_one_of(status_of(request_of("", {}, "/v1/chat/completions", methods[random() % 4])),
                     {400, 404, 405});
  }
  // In pieces, with pauses, and often not to its end.
  bool slow_sender(Random& random) const {
    const std::string request = request_of(asking({{"max_tokens", 1}}));
    const std::size_t end = random() % request.size();
    const Connection connection(server->port());
    for (std::size_t at = 0; at < end; at += 64) {
      if (!connection.send(
              std::string_view(request).substr(at, std::min<std::size_t>(64, end - at))))
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 4));
    }
    return connection.is_open();
  }
  bool right(Random&) const {
    return is_one_of(status_of(request_of(asking({{"max_tokens", 1}}))), {200, 429});
  }
};

TEST_F(Malformed, RequestsGetTheStatusThatTheyShould) {
  constexpr bool (Malformed::*kinds[])(Random&)
      const = {&Malformed::random_bytes, &Malformed::random_body, &Malformed::cut_body,
               &Malformed::changed_body, &Malformed::short_body,  &Malformed::large_body,
               &Malformed::deep_body,    &Malformed::huge_header, &Malformed::many_headers,
               &Malformed::long_path,    &Malformed::other_path,  &Malformed::other_method,
               &Malformed::slow_sender,  &Malformed::right};
  const std::int64_t cases = variable("CASES", 700), seed = variable("SEED", 1);
  std::atomic<std::int64_t> next = 0, failed = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; i++) {
    clients.emplace_back([&] {
      for (std::int64_t n; (n = next++) < cases && failed < 20;) {
        Random random(static_cast<unsigned>(seed * 1'000'003 + n));
        const std::size_t kind = random() % std::size(kinds);
        if ((this->*kinds[kind])(random)) continue;
        failed++;
        ADD_FAILURE() << "case " << n << " of seed " << seed << ", kind " << kind << ", the last "
                      << "status of this client " << last_status;
      }
    });
  }
  for (std::thread& t : clients) t.join();
  const auto answer = post("/v1/chat/completions", asking());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(metric("requests_total{end=\"failed\"}"), 0);
}

}  // namespace
}  // namespace croze
