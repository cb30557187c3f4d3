// server.h -- serves one page to the browser of the user who started the command.
#pragma once

#include <functional>
#include <string>

namespace croze::tool {

// Listens on 127.0.0.1 only and answers, with the page, to one address that holds 128 random bits;
// whoever does not know them is told nothing.  `ready` gets the address.  Returns when the process
// is interrupted.  Throws Error if the port is taken; port 0 is any free one.
void serve_page(const std::string& page, int port,
                const std::function<void(const std::string& address)>& ready);

}  // namespace croze::tool
