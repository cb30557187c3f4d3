// serve.cpp -- croze serve MODEL: OpenAI's API and a page to chat, over HTTP.
#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/llm/serve/api.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "croze/commands.h"
#include "croze/interrupt.h"
#include "sampling_options.h"
#include "serve/http_server.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string model, key_file, cache_type = "f16", activations = "f32";
  std::int64_t port = 8080, body = 4, queue = 16;
  HttpOptions http;
  llm::serve::ApiOptions api;
};

// Keys on a command line can be read by other users of the machine, those in a file need not be.
std::string key_of(const Settings& settings) {
  if (settings.key_file.empty()) return settings.http.key;
  check(settings.http.key.empty(), "--api-key and --api-key-file: one of them");
  const MappedFile file(settings.key_file);
  std::string key(as_text(file.data()));
  key.erase(std::min(key.find_first_of("\r\n"), key.size()));
  check(!key.empty(), "{}: there is no key in it", settings.key_file);
  return key;
}

void serve(const Settings& settings) {
  HttpOptions http = settings.http;
  http.key = key_of(settings);
  http.port = static_cast<int>(settings.port);
  http.body = static_cast<std::size_t>(settings.body) << 20;
  llm::serve::ApiOptions options = settings.api;
  options.engine.queue = static_cast<std::size_t>(settings.queue);
  options.engine.cache_type = cache_type_named(settings.cache_type);
  const auto model = llm::LanguageModel::load(
      settings.model, {.context = options.engine.context,
                       .activations = activation_type_named(settings.activations)});
  llm::serve::Api api(*model, options);
  const Interrupt interrupt;
  HttpServer server(api, http);
  fmt::print("{}\n", server.address());
  std::fflush(stdout);
  fmt::print(stderr, "{}: a context of {} tokens.  Ctrl-C ends it, when all is answered.\n",
             printable(model->name), api.context());
  while (!interrupt.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.stop();
}

}  // namespace

void add_serve(const Command& program) {
  const Command command =
      program.subcommand("serve", "Serve a language model: OpenAI's API, and a page to chat");
  const auto s = std::make_shared<Settings>();
  command.option("model", s->model, "GGUF file").required();
  command
      .option("--host", s->http.host, "Address to listen at; others than this machine need a key")
      .shows_default();
  command.option("--port", s->port, "Port; 0 is any that is free")
      .in_range(0, 65535)
      .shows_default();
  command.option("--api-key", s->http.key, "What clients have to send as a bearer token");
  command.option("--api-key-file", s->key_file, "File whose first line is the key");
  command.option("--alias", s->api.name, "Name of the model; by default that of the file");
  command
      .option("--context", s->api.engine.context,
              "Tokens of a prompt and its answer; 0: the model's, at most 4096")
      .not_negative();
  command.option("--max-tokens", s->api.engine.max_tokens, "Tokens of any answer; -1: any number")
      .shows_default();
  command
      .option("--parallel", s->api.engine.parallel,
              "Requests that are answered at once; each adds its context to the cache")
      .in_range(1, 256)
      .shows_default();
  command.option("--queue", s->queue, "Requests that may wait").in_range(1, 1024).shows_default();
  command.option("--time-limit", s->api.engine.seconds, "Seconds of a request, waiting included")
      .positive()
      .shows_default();
  command.option("--max-body", s->body, "Megabytes (MiB) of a request")
      .in_range(1, 1024)
      .shows_default();
  add_sampling_options(command, s->api.sampling);
  add_activations_option(command, s->activations);
  add_cache_option(command, s->cache_type);
  command.action([s] { serve(*s); });
}

}  // namespace croze::tool
