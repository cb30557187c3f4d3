#include "croze/viz/page.h"

#include <zlib.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "croze/base/error.h"

namespace croze {
namespace {

std::vector<unsigned char> packed(std::span<const std::byte> bytes) {
  uLongf size = compressBound(bytes.size());
  std::vector<unsigned char> result(size);
  // The fastest level: the page is opened where it is made.
  const int status = compress2(result.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                               bytes.size(), Z_BEST_SPEED);
  ensure(status == Z_OK, "zlib cannot pack a trace: {}", status);
  result.resize(size);
  return result;
}

std::string base64(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; k++)
      group = group << 8 | (i + k < bytes.size() ? bytes[i + k] : 0);
    for (std::size_t k = 0; k < 4; k++) {
      text += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace

// The bundle, made by CMake of page/bundle.html.
std::string_view page_bundle();

std::string html_page(std::span<const std::byte> trace) {
  constexpr std::string_view place = "<!--trace-->";
  const std::string_view bundle = page_bundle();
  const std::size_t at = bundle.find(place);
  ensure(at != std::string_view::npos, "the page has no place for a trace");
  std::string page(bundle.substr(0, at));
  page += base64(packed(trace));
  page += bundle.substr(at + place.size());
  return page;
}

}  // namespace croze
