// texts.h -- what filters and methods of texts have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/template/budget.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

// The text with `to` in the place of each `from`, at most so many if `most` is not negative.  An
// empty `from` stands between all characters.
Value replaced(std::string_view text, std::string_view from, std::string_view to, std::int64_t most,
               Budget& budget);

// The lines of a text as Python's splitlines cuts it: at "\n", "\r\n" and six more.
std::vector<std::string_view> lines_of(std::string_view text, bool with_ends);

// The text in the middle of so many characters; where that is half a character to the left or the
// right, as str.center() has it.
Value centered(std::string_view text, std::int64_t width, std::string_view fill, Budget& budget);

}  // namespace croze::llm::jinja
