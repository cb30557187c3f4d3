// Text from outside, made fit to be shown.
#pragma once

#include <string>
#include <string_view>

namespace croze {

// The text with what a terminal would obey written as \x1b: control characters except the tab and
// the end of a line, marks that turn the direction of writing, and bytes that are not UTF-8.
// Messages of Errors pass through here, since names in them may come from a file.
std::string printable(std::string_view text);

// As much of the text as a message has room for: 200 bytes.
std::string shortened(std::string_view text);

}  // namespace croze
