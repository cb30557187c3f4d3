// gzip.cpp -- the members of a gzip file, one after another, or the bytes of any other file.
#include "croze/io/gzip.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/io/inflate.h"

namespace croze {
namespace {

bool is_gzip(std::span<const std::byte> data) {
  return data.size() >= 2 && data[0] == std::byte{0x1f} && data[1] == std::byte{0x8b};
}

}  // namespace

struct GzipReader::State {
  explicit State(const std::string& path) : file(path), rest(file.data()) {
    compressed = is_gzip(rest);
    if (compressed) member.emplace(rest, Inflater::Format::Gzip, path);
  }

  std::int64_t copy(std::span<std::byte> to);
  std::int64_t inflate(std::span<std::byte> to);

  MappedFile file;
  std::span<const std::byte> rest;  // of a file that is not compressed: not consumed yet
  bool compressed = false;
  std::optional<Inflater> member;  // none behind the last
};

std::int64_t GzipReader::State::copy(std::span<std::byte> to) {
  const std::size_t count = std::min(to.size(), rest.size());
  if (count > 0) std::memcpy(to.data(), rest.data(), count);
  rest = rest.subspan(count);
  return static_cast<std::int64_t>(count);
}

std::int64_t GzipReader::State::inflate(std::span<std::byte> to) {
  std::int64_t filled = 0;
  while (member && filled < static_cast<std::int64_t>(to.size())) {
    filled += member->read(to.subspan(static_cast<std::size_t>(filled)));
    if (!member->ended()) continue;
    // What follows the last member is ignored unless it is another, as gzip does with padding.
    const std::span<const std::byte> next = member->rest();
    member.reset();
    if (is_gzip(next)) member.emplace(next, Inflater::Format::Gzip, file.path());
  }
  return filled;
}

GzipReader::GzipReader(const std::string& path) : state_(std::make_unique<State>(path)) {}
GzipReader::~GzipReader() = default;

const std::string& GzipReader::path() const { return state_->file.path(); }

std::int64_t GzipReader::read_into(std::span<std::byte> to) {
  return state_->compressed ? state_->inflate(to) : state_->copy(to);
}

std::vector<std::byte> GzipReader::read(std::int64_t count) {
  check(count >= 0, "{}: a read of {} bytes", path(), count);
  return read_growing(count, std::ssize(state_->file.data()) * usual_ratio,
                      [&](std::span<std::byte> to) { return read_into(to); });
}

std::vector<std::byte> GzipReader::read_exactly(std::int64_t count) {
  std::vector<std::byte> bytes = read(count);
  check(static_cast<std::int64_t>(bytes.size()) == count,
        "{} is too short: {} bytes were expected, {} are there", path(), count, bytes.size());
  return bytes;
}

bool GzipReader::at_end() {
  std::byte extra;
  // Reading one byte more also makes zlib compare the checksum.
  return read_into(std::span(&extra, 1)) == 0;
}

}  // namespace croze
