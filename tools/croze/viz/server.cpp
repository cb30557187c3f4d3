// server.cpp -- cpp-httplib does the work; its header is slow to compile, and few files
// see it.
#include "viz/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>

#include "croze/base/error.h"
#include "interrupt.h"
#include "serve/access.h"
#include "serve/listening.h"

namespace croze::tool {
namespace {

constexpr const char* host = "127.0.0.1";

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; i++) token += fmt::format("{:08x}", random());
  return token;
}

// The number in "?from=12"; 0 where there is none.
std::int64_t number_from(const httplib::Request& request) {
  const std::string text = request.get_param_value("from");
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max<std::int64_t>(number, 0);
}

void answer(const httplib::Request& request, httplib::Response& response, const std::string& path,
            const Served& served) {
  const bool is_page = are_equal(request.path, path);
  const bool is_events = served.events && are_equal(request.path, path + "events");
  // A page of elsewhere may have a name that leads here; its requests bear that name.
  const bool is_for_us = is_local(host_of(request.get_header_value("Host")));
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (!is_for_us || !is_read || (!is_page && !is_events)) {
    response.status = 404;
    return;
  }
  response.set_header("Cache-Control", "no-store");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  response.set_header("X-Frame-Options", "DENY");
  if (is_page) {
    response.set_content(served.page, "text/html; charset=utf-8");
  } else {
    response.set_content(served.events(number_from(request)), "application/json");
  }
}

}  // namespace

void serve_page(const Served& served, int port,
                const std::function<void(const std::string& address)>& ready) {
  httplib::Server server;
  const std::string path = fmt::format("/{}/", random_token());
  server.set_payload_max_length(0);
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    answer(request, response, path, served);
    return httplib::Server::HandlerResponse::Handled;
  });
  if (port == 0) {
    port = server.bind_to_any_port(host);
    check(port > 0, "no port of {} is free", host);
  } else {
    check(server.bind_to_port(host, port), "port {} of {} cannot be had", port, host);
  }
  const Interrupt interrupt;
  Listening listening(server);
  ready(fmt::format("http://{}:{}{}", host, port, path));
  while (!interrupt.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace croze::tool
