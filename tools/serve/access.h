// access.h -- who may use a server.
#pragma once

#include <string>
#include <string_view>

namespace croze::tool {

// Takes as long whichever of the characters differ.
bool are_equal(std::string_view a, std::string_view b);

// Whether a host is this machine alone: "127.0.0.1", "localhost", "::1".
bool is_local(std::string_view host);

// The host of a "Host" header, "localhost:8080", or of an "Origin", "http://localhost:8080".
std::string_view host_of(std::string_view address);

// Whether "Authorization" is "Bearer <key>".
bool has_key(std::string_view authorization, std::string_view key);

}  // namespace croze::tool
