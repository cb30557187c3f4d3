// http_server.cpp -- cpp-httplib does the work; its header is slow to compile, and few files
// see it.
//
// A body is given to the library as a function that is called when the headers are out: it waits
// for the engine, looks from time to time whether the client is still there, and ends if not; the
// Exchange that goes with it then stops the engine.
#include "serve/http_server.h"

#include <croze/base/error.h>
#include <croze/llm/serve/refusal.h>
#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "serve/access.h"
#include "serve/listening.h"

namespace croze {
// The page, made by CMake of page/chat.html.
std::string_view chat_page();
}  // namespace croze

namespace croze::tool {
namespace {

using httplib::Request;
using httplib::Response;
using llm::serve::Api;
using llm::serve::Exchange;
using llm::serve::Refusal;

constexpr const char* json = "application/json";
constexpr auto glance = std::chrono::milliseconds(100);  // between looks at whether a client left

void refuse(Response& response, int status, const std::string& body) {
  response.status = status;
  if (status == 401) response.set_header("WWW-Authenticate", "Bearer");
  if (status == 429) response.set_header("Retry-After", "1");
  response.set_content(body, json);
}

void refuse(Response& response, const Refusal& refusal) {
  refuse(response, refusal.status(), llm::serve::error_body(refusal));
}

// What is said of a status that the library has set itself.
std::string_view message_of(int status) {
  switch (status) {
    case 404: return "there is no such address, or not for this method";
    case 413: return "the body is too long";
    case 414: return "the address is too long";
    case 415: return "a body of this kind is not understood";
    default: return status < 500 ? "the request is not understood" : "the server has failed";
  }
}

}  // namespace

struct HttpServer::Inner {
  Inner(Api& of, const HttpOptions& how) : api(of), options(how) {}

  Api& api;
  const HttpOptions options;
  httplib::Server server;
  socket_t listener = INVALID_SOCKET;
  int port = 0;
  std::optional<Listening> listening;
  // Requests that are being read or answered.
  std::mutex mutex;
  std::condition_variable changed;
  int open = 0;

  // One request, from where its headers were read until its body is out.
  class Visit {
   public:
    explicit Visit(Inner& inner) : inner_(inner) {
      const std::lock_guard lock(inner_.mutex);
      inner_.open++;
    }
    ~Visit() {
      const std::lock_guard lock(inner_.mutex);
      inner_.open--;
      inner_.changed.notify_all();
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Inner& inner_;
  };

  void add_routes();
  void add_get(const char* path, const char* type, bool is_public,
               std::function<std::string(const Request&)> body);
  void add_post(const char* path, std::unique_ptr<Exchange> (Api::*begin)(std::string_view));
  void check_access(const Request& request, bool is_public) const;
  void answer(const Request& request, Response& response, bool is_public,
              const std::function<void()>& make);
  void send(Response& response, std::shared_ptr<Exchange> exchange);
};

// A page of another site that the user looks at can send requests here, too: it is known by its
// Origin, or by the name under which it reached this machine.
void HttpServer::Inner::check_access(const Request& request, bool is_public) const {
  const std::string header = request.get_header_value("Host");
  const std::string_view host = host_of(header);
  if (options.key.empty() && !is_local(host)) {
    throw Refusal(403, "this server is for its own machine");
  }
  if (request.has_header("Origin") && host_of(request.get_header_value("Origin")) != host) {
    throw Refusal(403, "pages of other sites may not use this server");
  }
  if (!is_public && !options.key.empty() &&
      !has_key(request.get_header_value("Authorization"), options.key)) {
    throw Refusal(401, "a key is wanted: Authorization: Bearer <key>", {}, "invalid_api_key");
  }
}

// The body has been read by now: who is refused earlier may not get to read why, since a connection
// that is closed with bytes unread is reset.
void HttpServer::Inner::answer(const Request& request, Response& response, bool is_public,
                               const std::function<void()>& make) {
  const Visit visit(*this);
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("X-Frame-Options", "DENY");
  try {
    check_access(request, is_public);
    make();
  } catch (const Refusal& refusal) {
    refuse(response, refusal);
  }
}

void HttpServer::Inner::send(Response& response, std::shared_ptr<Exchange> exchange) {
  const auto visit = std::make_shared<Visit>(*this);
  const char* type = exchange->is_stream() ? "text/event-stream" : json;
  response.set_chunked_content_provider(
      type, [exchange = std::move(exchange), visit](std::size_t, httplib::DataSink& sink) {
        while (auto bytes = exchange->next(glance)) {
          if (!sink.is_writable()) return false;
          if (!bytes->empty() && !sink.write(bytes->data(), bytes->size())) return false;
        }
        sink.done();
        return true;
      });
}

void HttpServer::Inner::add_post(const char* path,
                                 std::unique_ptr<Exchange> (Api::*begin)(std::string_view)) {
  server.Post(path, [this, begin](const Request& request, Response& response) {
    answer(request, response, false, [&] {
      std::shared_ptr<Exchange> exchange = (api.*begin)(request.body);
      exchange->wait_until_begun();
      send(response, std::move(exchange));
    });
  });
}

void HttpServer::Inner::add_get(const char* path, const char* type, bool is_public,
                                std::function<std::string(const Request&)> body) {
  server.Get(path, [this, type, is_public, body = std::move(body)](const Request& request,
                                                                   Response& response) {
    answer(request, response, is_public, [&] { response.set_content(body(request), type); });
  });
}

void HttpServer::Inner::add_routes() {
  add_post("/v1/chat/completions", &Api::chat);
  add_post("/v1/completions", &Api::complete);
  add_post("/v1/embeddings", &Api::embed);
  add_get("/v1/models", json, false, [this](const Request&) { return api.models(); });
  add_get("/v1/models/(.+)", json, false,
          [this](const Request& r) { return api.model(r.matches[1].str()); });
  add_get("/metrics", "text/plain; version=0.0.4", false,
          [this](const Request&) { return api.metrics(); });
  add_get("/health", json, true, [this](const Request&) { return api.health(); });
  add_get("/", "text/html; charset=utf-8", true,
          [](const Request&) { return std::string(chat_page()); });
}

HttpServer::HttpServer(Api& api, const HttpOptions& options)
    : inner_(std::make_unique<Inner>(api, options)) {
  check(is_local(options.host) || !options.key.empty(),
        "{} can be reached from other machines: that needs a key", options.host);
  Inner& inner = *inner_;
  httplib::Server& server = inner.server;
  server.set_payload_max_length(options.body);
  // What was refused may have left its body unread, so no other request comes behind it.
  server.set_keep_alive_max_count(1);
  // Each that runs or waits has a thread, and some are left for the other addresses.
  const std::size_t threads = api.options().engine.queue + 8;
  server.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
  server.set_error_handler(httplib::Server::Handler([](const Request&, Response& response) {
    if (!response.body.empty()) return;
    refuse(response, response.status,
           llm::serve::error_body(response.status, message_of(response.status)));
  }));
  server.set_exception_handler([](const Request&, Response& response, std::exception_ptr problem) {
    std::string text = "the server has failed";
    try {
      std::rethrow_exception(std::move(problem));
    } catch (const std::exception& e) {
      text = e.what();
    } catch (...) {
    }
    refuse(response, 500, llm::serve::error_body(500, text));
  });
  // By default the library lets several processes share a port.
  server.set_socket_options([&inner](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    inner.listener = socket;  // of several addresses the last one that is tried has the port
  });
  inner.add_routes();
  if (options.port == 0) {
    inner.port = server.bind_to_any_port(options.host);
    check(inner.port > 0, "no port of {} is free", options.host);
  } else {
    check(server.bind_to_port(options.host, options.port), "port {} of {} cannot be had",
          options.port, options.host);
    inner.port = options.port;
  }
  // The library lets five connections wait.  Of more that come at once the kernel answers some by
  // cookies and loses them later, when the request is on its way.
  check(::listen(inner.listener, SOMAXCONN) == 0, "port {} of {} cannot be had", inner.port,
        options.host);
  inner.listening.emplace(server);
}

HttpServer::~HttpServer() { stop(); }

int HttpServer::port() const { return inner_->port; }

std::string HttpServer::address() const {
  return fmt::format("http://{}:{}", inner_->options.host, inner_->port);
}

void HttpServer::stop() {
  Inner& inner = *inner_;
  if (!inner.listening) return;
  inner.api.finish();
  {
    std::unique_lock lock(inner.mutex);
    inner.changed.wait(lock, [&] { return inner.open == 0; });
  }
  inner.listening.reset();
}

}  // namespace croze::tool
