// http_server.h -- the transport of llm::serve::Api: HTTP/1.1, server-sent events and a page to
// chat.
#pragma once

#include <croze/llm/serve/api.h>

#include <cstddef>
#include <memory>
#include <string>

namespace croze::tool {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;              // 0: any that is free
  std::string key;              // empty: everyone on this machine
  std::size_t body = 4u << 20;  // bytes of a request at most
};

// Serves from the moment it is made until stop().  Threads of its own carry answers; each
// connection is one request.
class HttpServer {
 public:
  // The API must outlive it.  Throws Error if the port cannot be had, and for an address that
  // others can reach without a key.
  HttpServer(llm::serve::Api& api, const HttpOptions& options);
  // As stop().
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  // "http://127.0.0.1:8080"
  std::string address() const;
  // Refuses new requests (503), finishes those that are there, and returns when all are answered.
  void stop();

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace croze::tool
