#include "croze/viz/page.h"

#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "croze/base/base64.h"
#include "croze/base/error.h"

namespace croze {
namespace {

std::vector<unsigned char> packed(std::span<const std::byte> bytes) {
  uLongf size = compressBound(bytes.size());
  std::vector<unsigned char> result(size);
  // The fastest level: the page is opened where it is made.
  const int status = compress2(result.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                               bytes.size(), Z_BEST_SPEED);
  ensure(status == Z_OK, "zlib cannot pack what a page shows: {}", status);
  result.resize(size);
  return result;
}

// The bundle with the data in the places of these names.
struct Place {
  std::string_view name;
  std::span<const std::byte> data;
};
std::string filled(std::string_view bundle, std::initializer_list<Place> places) {
  std::string page;
  for (const auto& [name, data] : places) {
    const std::size_t at = bundle.find(name);
    ensure(at != std::string_view::npos, "a page has no place {}", name);
    page += bundle.substr(0, at);
    if (!data.empty()) {
      const std::vector<unsigned char> small = packed(data);
      page += to_base64(std::as_bytes(std::span(small)));
    }
    bundle.remove_prefix(at + name.size());
  }
  return page += bundle;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

// The bundles, made by CMake of page/bundles/.
std::string_view trace_bundle();
std::string_view runs_bundle();
std::string_view history_bundle();

std::string html_page(std::span<const std::byte> trace, std::span<const std::byte> base) {
  return filled(trace_bundle(), {{"<!--data-->", trace}, {"<!--base-->", base}});
}

std::string runs_page(std::string_view events) {
  return filled(runs_bundle(), {{"<!--data-->", bytes_of(events)}, {"<!--base-->", {}}});
}

std::string history_page(std::string_view history) {
  return filled(history_bundle(), {{"<!--data-->", bytes_of(history)}, {"<!--base-->", {}}});
}

}  // namespace croze
