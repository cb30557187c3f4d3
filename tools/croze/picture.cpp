// picture.cpp -- small grey images in a terminal.
#include "picture.h"

#include <fmt/format.h>

#include <algorithm>

namespace croze::tool {
namespace {

constexpr const char* gap = "  ";

// Number of the grey nearest to a value in the palette of 256 colours: 232..255 is a ramp.
int palette_grey(std::uint8_t value) { return 232 + value * 24 / 256; }

std::string cell(std::uint8_t upper, std::uint8_t lower, bool colours) {
  if (colours) {
    return fmt::format("\033[38;5;{};48;5;{}m▀", palette_grey(upper), palette_grey(lower));
  }
  constexpr const char* blocks[] = {" ", "▄", "▀", "█"};
  return blocks[(upper >= 128 ? 2 : 0) + (lower >= 128 ? 1 : 0)];
}

// Line `y` of characters of one picture.
std::string line_of(const Picture& picture, std::int64_t y, bool colours) {
  std::string text;
  for (std::int64_t x = 0; x < picture.width; x++) {
    const auto pixel = [&](std::int64_t row) {
      const bool inside = row < picture.height;
      return inside ? picture.pixels[static_cast<std::size_t>(row * picture.width + x)]
                    : std::uint8_t{0};
    };
    text += cell(pixel(2 * y), pixel(2 * y + 1), colours);
  }
  return colours ? text + "\033[0m" : text;
}

}  // namespace

std::string draw(std::span<const Picture> pictures, int per_row, bool colours) {
  std::string text;
  while (!pictures.empty()) {
    const auto row = pictures.first(std::min(pictures.size(), static_cast<std::size_t>(per_row)));
    pictures = pictures.subspan(row.size());
    std::int64_t lines = 0;
    for (const Picture& p : row) lines = std::max(lines, (p.height + 1) / 2);
    for (std::int64_t y = 0; y < lines; y++) {
      for (const Picture& p : row) text += line_of(p, y, colours) + gap;
      text += '\n';
    }
    for (const Picture& p : row) text += fmt::format("{:<{}}{}", p.caption, p.width, gap);
    text += '\n';
  }
  return text;
}

}  // namespace croze::tool
