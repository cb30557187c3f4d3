// page.h -- pages for a browser, each one file of HTML that needs nothing else: scripts, styles and
// data stand in it.  Their sources are in viz/page/.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace croze {

// Shows the trace; with the bytes of another one also how it compares to that.
std::string html_page(std::span<const std::byte> trace, std::span<const std::byte> base = {});

// Shows the events of runs (viz/page/src/events.ts says what the JSON is).  Without them the page
// asks its server for "events?from=N" again and again, N being how many it has.
std::string runs_page(std::string_view events = {});

// Shows figures over commits (viz/page/src/history.ts says what the JSON is).
std::string history_page(std::string_view history);

}  // namespace croze
