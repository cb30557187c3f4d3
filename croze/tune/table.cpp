// table.cpp -- lines of five fields with tabs between them:
// machine, kernel, seconds, seconds of the model's choice, edits.
#include "croze/tune/table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/codegen/edits/edit.h"

namespace croze::tune {
namespace {

// A fleet's worth of kernels; what lies behind it is not read.
constexpr std::size_t most_bytes = std::size_t{64} << 20;

constexpr std::size_t num_fields = 5;
using Fields = std::array<std::string_view, num_fields>;

// False if there are fewer or more.
bool split_fields(std::string_view line, Fields& fields) {
  for (std::size_t i = 0; i < num_fields; i++) {
    const std::size_t end = line.find('\t');
    if ((end == line.npos) != (i + 1 == num_fields)) return false;
    fields[i] = line.substr(0, end);
    line.remove_prefix(end == line.npos ? line.size() : end + 1);
  }
  return true;
}

bool read_seconds(std::string_view text, double& seconds) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc() && end == text.data() + text.size() && seconds > 0 && seconds < 1e6;
}

bool are_edits(std::string_view text) {
  try {
    parse_edits(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TunedTable::TunedTable(std::string path, std::string_view machine)
    : path_(std::move(path)), machine_(machine) {
  if (path_.empty() || access(path_.c_str(), R_OK) != 0) return;
  try {
    const MappedFile file(path_);
    read(as_text(file.data()).substr(0, most_bytes));
  } catch (const Error&) {
    // A folder, say: there is nothing to be taken from it.
  }
}

void TunedTable::read(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    Fields fields;
    TunedKernel tuned;
    if (!split_fields(line, fields) || fields[0] != machine_) continue;
    if (!read_seconds(fields[2], tuned.seconds)) continue;
    if (!read_seconds(fields[3], tuned.model_seconds) || !are_edits(fields[4])) continue;
    tuned.edits = fields[4];
    keep(std::string(fields[1]), std::move(tuned));
  }
}

void TunedTable::keep(std::string kernel, TunedKernel tuned) {
  const auto [place, is_new] = kernels_.try_emplace(std::move(kernel), tuned);
  if (!is_new && tuned.gain() > place->second.gain()) place->second = std::move(tuned);
}

const TunedKernel* TunedTable::find(const std::string& kernel) const {
  const auto found = kernels_.find(kernel);
  return found == kernels_.end() ? nullptr : &found->second;
}

// One write of the whole line at the end: other processes may add theirs at the same time.
bool TunedTable::add(const std::string& kernel, const TunedKernel& tuned) {
  keep(kernel, tuned);
  if (path_.empty()) return true;
  const std::string line = fmt::format("{}\t{}\t{:.4g}\t{:.4g}\t{}\n", machine_, kernel,
                                       tuned.seconds, tuned.model_seconds, tuned.edits);
  const FileDescriptor file(open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open()) return false;
  return write(file.number(), line.data(), line.size()) == std::ssize(line);
}

}  // namespace croze::tune
