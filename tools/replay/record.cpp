// record.cpp -- the file of a graph: one member a line, and one kernel a line.
#include "replay/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "croze/base/error.h"
#include "croze/base/file.h"

namespace croze::replay {
namespace {

constexpr const char* format_name = "croze replay";
constexpr std::int64_t format_version = 1;
constexpr const char* extension = ".json";

std::string text_of(const GraphRecord& record) {
  std::string text = fmt::format(
      "{{\n\"format\": {},\n\"version\": {},\n\"graph\": {},\n\"machine\": {},\n\"totals\": {},\n"
      "\"kernels\": [",
      Json(format_name).dump(), format_version, Json(record.name).dump(),
      Json(record.machine).dump(), json_of(record.totals).dump(1));
  const char* separator = "\n";
  for (const KernelRecord& k : record.kernels) {
    text += separator + json_of(k).dump();
    separator = ",\n";
  }
  return text + "\n]\n}\n";
}

// The members of an object that a file holds, which may be damaged.
class Members {
 public:
  Members(const Json& json, const std::string& path) : json_(json), path_(path) {}

  const Json& any(const char* name) const {
    check(json_.contains(name), "{} is a damaged record: no '{}'", path_, name);
    return json_[name];
  }
  std::string text(const char* name) const {
    const Json& member = any(name);
    check(member.is_text(), "{} is a damaged record: '{}' is no text", path_, name);
    return member.get<std::string>();
  }
  bool flag(const char* name) const {
    const Json& member = any(name);
    check(member.is_flag(), "{} is a damaged record: '{}' is neither true nor false", path_, name);
    return member.get<bool>();
  }
  std::int64_t integer(const char* name) const {
    const Json& member = any(name);
    check(member.is_integer(), "{} is a damaged record: '{}' is no whole number", path_, name);
    return member.get<std::int64_t>();
  }

 private:
  const Json& json_;
  const std::string& path_;
};

KernelRecord kernel_of(const Json& json, const std::string& path) {
  const Members members(json, path);
  return {.name = members.text("name"),
          .key = members.text("key"),
          .in_blocks = members.flag("in_blocks"),
          .nests = members.integer("nests"),
          .flops = members.integer("flops"),
          .bytes = members.integer("bytes"),
          .cycles = members.integer("cycles"),
          .edits = members.text("edits"),
          .program = members.text("program")};
}

std::optional<Json> parsed(std::span<const std::byte> bytes) {
  try {
    return Json::parse(as_text(bytes));
  } catch (const Error&) {  // which quotes the whole text
    return {};
  }
}

}  // namespace

Json json_of(const Totals& totals) {
  Json json = Json::object();
  for (const auto& [name, member] : total_members) json[name] = totals.*member;
  return json;
}

Json json_of(const KernelRecord& k) {
  return {{"name", k.name},     {"key", k.key},     {"in_blocks", k.in_blocks},
          {"nests", k.nests},   {"flops", k.flops}, {"bytes", k.bytes},
          {"cycles", k.cycles}, {"edits", k.edits}, {"program", k.program}};
}

std::string record_path(const std::string& folder, const std::string& graph) {
  return folder + "/" + graph + extension;
}

void write_record(const std::string& path, const GraphRecord& record) {
  const std::string text = text_of(record);
  write_file(path, std::as_bytes(std::span(text)));
}

GraphRecord read_record(const std::string& path) {
  const MappedFile file(path);
  const std::optional<Json> json = parsed(file.data());
  check(json && json->contains("format") && (*json)["format"].is_text() &&
            (*json)["format"].get<std::string>() == format_name,
        "{} is no record of croze replay", path);
  const Members members(*json, path);
  check(members.integer("version") == format_version,
        "{} is a record of version {}, and this croze reads version {}: record anew", path,
        members.integer("version"), format_version);
  GraphRecord record{.name = members.text("graph"), .machine = members.text("machine")};
  const Members totals(members.any("totals"), path);
  for (const auto& [name, member] : total_members) record.totals.*member = totals.integer(name);
  const Json& kernels = members.any("kernels");
  check(kernels.is_array(), "{} is a damaged record: 'kernels' is no list", path);
  for (const Json& k : kernels.elements()) record.kernels.push_back(kernel_of(k, path));
  return record;
}

std::vector<std::string> recorded_graphs(const std::string& folder) {
  check(std::filesystem::is_directory(folder), "there is no folder '{}'", folder);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace croze::replay
