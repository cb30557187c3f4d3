// picture.h -- small grey images in a terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace croze::tool {

// A grey image, row by row; 0 is black, 255 white.
struct Picture {
  std::span<const std::uint8_t> pixels;
  std::int64_t height = 0, width = 0;
  std::string caption;  // the line below
};

// The lines, each ending in a newline, that draw the pictures, `per_row` beside each other.  A
// character shows two pixels, one above the other, as half blocks: with the grey scale of a
// terminal of 256 colours, or in black and white without `colours`.
std::string draw(std::span<const Picture> pictures, int per_row, bool colours);

}  // namespace croze::tool
