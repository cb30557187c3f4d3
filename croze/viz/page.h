// page.h -- a trace as a page for a browser.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace croze {

// One file of HTML that shows the trace and needs nothing else: scripts, styles and the bytes of
// the trace stand in it.  Its sources are in viz/page/.
std::string html_page(std::span<const std::byte> trace);

}  // namespace croze
