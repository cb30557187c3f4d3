// server.h -- serves one page to the browser of the user who started the command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace croze::tool {

// What is served: a page, and what it asks for while it is open: the text of "events?from=N", as
// JSON.  Without `events` there is the page alone.
struct Served {
  std::string page;
  std::function<std::string(std::int64_t from)> events = {};
};

// Listens on 127.0.0.1 only and answers, with the page, to one address that holds 128 random bits;
// whoever does not know them is told nothing.  `ready` gets the address.  Returns when the process
// is interrupted.  Throws Error if the port is taken; port 0 is any free one.  `events` is called
// by several threads.
void serve_page(const Served& served, int port,
                const std::function<void(const std::string& address)>& ready);

}  // namespace croze::tool
