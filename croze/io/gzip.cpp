// gzip.cpp -- zlib behind bounded reads of a mapped file.
#include "io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/bytes.h"
#include "base/error.h"

namespace croze {
namespace {

constexpr std::int64_t chunk_bytes = 1 << 20;
constexpr int gzip_window = 15 + 16;  // the largest window, gzip framing

bool is_gzip(std::span<const std::byte> data) {
  return data.size() >= 2 && data[0] == std::byte{0x1f} && data[1] == std::byte{0x8b};
}

}  // namespace

struct GzipReader::State {
  explicit State(const std::string& path) : file(path), rest(file.data()) {
    compressed = is_gzip(rest);
    if (compressed) start_member();
  }
  ~State() { inflateEnd(&stream); }

  void start_member() {
    inflateEnd(&stream);
    stream = {};
    ensure(inflateInit2(&stream, gzip_window) == Z_OK, "zlib could not be started");
    in_member = true;
  }

  std::int64_t copy(std::span<std::byte> to);
  std::int64_t inflate_some(std::span<std::byte> to);

  MappedFile file;
  std::span<const std::byte> rest;  // not consumed yet
  z_stream stream{};
  bool compressed = false;
  bool in_member = false;  // inside a gzip member: its end has not been seen
};

std::int64_t GzipReader::State::copy(std::span<std::byte> to) {
  const std::size_t count = std::min(to.size(), rest.size());
  if (count > 0) std::memcpy(to.data(), rest.data(), count);
  rest = rest.subspan(count);
  return static_cast<std::int64_t>(count);
}

// One call of inflate: 0 if it only moved on in the input, which happens at the end of a member.
std::int64_t GzipReader::State::inflate_some(std::span<std::byte> to) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  const auto in_bytes = static_cast<uInt>(std::min(rest.size(), most));
  const auto out_bytes = static_cast<uInt>(std::min(to.size(), most));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest.data()));
  stream.avail_in = in_bytes;
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = out_bytes;
  const int status = inflate(&stream, Z_NO_FLUSH);
  rest = rest.subspan(in_bytes - stream.avail_in);
  check(status != Z_MEM_ERROR, "{}: no memory left to decompress it", file.path());
  check(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, "{} is damaged: {}",
        file.path(), stream.msg != nullptr ? stream.msg : "bad gzip data");
  const std::int64_t made = out_bytes - stream.avail_out;
  check(made > 0 || !rest.empty() || status == Z_STREAM_END,
        "{} is truncated: its gzip data ends early", file.path());
  if (status == Z_STREAM_END) {
    in_member = false;
    // What follows the last member is ignored unless it is another, as gzip does with padding.
    if (is_gzip(rest)) start_member();
  }
  return made;
}

GzipReader::GzipReader(const std::string& path) : state_(std::make_unique<State>(path)) {}
GzipReader::~GzipReader() = default;

const std::string& GzipReader::path() const { return state_->file.path(); }

std::int64_t GzipReader::read_into(std::span<std::byte> to) {
  if (!state_->compressed) return state_->copy(to);
  std::size_t filled = 0;
  while (filled < to.size() && state_->in_member) {
    filled += static_cast<std::size_t>(state_->inflate_some(to.subspan(filled)));
  }
  return static_cast<std::int64_t>(filled);
}

std::vector<std::byte> GzipReader::read(std::int64_t count) {
  check(count >= 0, "{}: a read of {} bytes", path(), count);
  std::vector<std::byte> bytes;
  while (count > 0) {
    const std::int64_t want = std::min(count, chunk_bytes);
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(want));
    const std::int64_t got = read_into(std::span(bytes).subspan(before));
    bytes.resize(before + static_cast<std::size_t>(got));
    if (got < want) break;
    count -= got;
  }
  return bytes;
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
