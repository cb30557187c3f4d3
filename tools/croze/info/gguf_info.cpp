// gguf_info.cpp -- croze info MODEL.gguf: metadata and tensors of a GGUF model.
#include "gguf_info.h"

#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/io/gguf/gguf.h>
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

#include "command_line/json.h"

namespace croze::tool {
namespace {

Json json_of(const GgufValue& value) {
  const auto convert = [](const auto& v) -> Json {
    using T = std::remove_cvref_t<decltype(v)>;
    if constexpr (std::same_as<T, GgufArray>) {
      return Json{{"elements", v.size()}};
    } else if constexpr (std::same_as<T, std::uint64_t>) {
      return std::in_range<std::int64_t>(v) ? Json(v) : Json(std::to_string(v));
    } else if constexpr (std::same_as<T, float>) {
      return static_cast<double>(v);
    } else {
      return v;
    }
  };
  return std::visit(convert, value);
}

// On one line: of a text its beginning, of an array how many elements it has.
std::string text_of(const GgufValue& value) {
  constexpr std::size_t max_text = 80;
  if (const auto* array = std::get_if<GgufArray>(&value)) {
    return fmt::format("({} elements)", array->size());
  }
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  const auto* text = std::get_if<std::string>(&value);
  if (!text) return json_of(value).dump();
  const bool whole = text->size() <= max_text;
  return Json(text->substr(0, max_text)).dump() + (whole ? "" : " ...");
}

struct Totals {
  std::vector<std::pair<std::string, std::int64_t>> types;  // tensors of each, the most first
  std::int64_t parameters = 0, bytes = 0;
};

Totals totals_of(const GgufFile& file) {
  Totals totals;
  for (const GgufTensor& t : file.tensors) {
    const std::string name(name_of(t.type));
    auto it = std::ranges::find(totals.types, name, &std::pair<std::string, std::int64_t>::first);
    if (it == totals.types.end()) it = totals.types.insert(it, {name, 0});
    it->second++;
    totals.parameters += t.shape.numel();
    totals.bytes += t.stored.numel() * size_of(t.stored.dtype());
  }
  std::ranges::stable_sort(totals.types, std::greater{},
                           &std::pair<std::string, std::int64_t>::second);
  return totals;
}

void print_json(const std::string& path, const GgufFile& file) {
  Json metadata = Json::array(), tensors = Json::array();
  for (const auto& [name, value] : file.metadata.values()) {
    metadata.push_back(Json{{"name", name}, {"type", type_name(value)}, {"value", json_of(value)}});
  }
  for (const GgufTensor& t : file.tensors) {
    tensors.push_back(Json{{"name", t.name},
                           {"type", name_of(t.type)},
                           {"shape", std::vector<std::int64_t>(t.shape.begin(), t.shape.end())}});
  }
  const Totals totals = totals_of(file);
  const Json json{{"model", path},
                  {"gguf_version", file.version},
                  {"big_endian", file.big_endian},
                  {"files", file.parts},
                  {"metadata", metadata},
                  {"tensors", tensors},
                  {"parameters", totals.parameters},
                  {"tensor_bytes", totals.bytes}};
  fmt::print("{}\n", json.dump());
}

std::string text_of(const GgufFile& file) {
  std::string text;
  const char* title = "metadata";
  for (const auto& [name, value] : file.metadata.values()) {
    text += fmt::format("{:<10} {}: {} {}\n", std::exchange(title, ""), name, type_name(value),
                        text_of(value));
  }
  title = "tensors";
  for (const GgufTensor& t : file.tensors) {
    text += fmt::format("{:<10} {}: {} {}\n", std::exchange(title, ""), t.name, name_of(t.type),
                        to_text(t.shape));
  }
  const Totals totals = totals_of(file);
  std::string types;
  for (const auto& [name, count] : totals.types) types += fmt::format(" {} {}", count, name);
  text += fmt::format("{:<10} {}:{}\n", "types", file.tensors.size(), types);
  text += fmt::format("{:<10} {} in {} bytes\n", "parameters", totals.parameters, totals.bytes);
  text += fmt::format("{:<10} GGUF version {}, {}-endian, {} file{}\n", "format", file.version,
                      file.big_endian ? "big" : "little", file.parts, file.parts == 1 ? "" : "s");
  return text;
}

}  // namespace

bool is_gguf(const std::string& path) {
  constexpr std::string_view magic = "GGUF";
  const MappedFile file(path);
  ByteReader reader = file.reader();
  return reader.remaining() >= std::ssize(magic) && reader.text(std::ssize(magic)) == magic;
}

void print_gguf_info(const std::string& path, bool as_json) {
  const GgufFile file = load_gguf(path);
  if (as_json) {
    print_json(path, file);
  } else {
    fmt::print("{}", printable(text_of(file)));  // names may hold anything
  }
}

}  // namespace croze::tool
