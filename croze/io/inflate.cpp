// inflate.cpp -- zlib's inflate over spans of any length.
#include "croze/io/inflate.h"

#include <limits>
#include <utility>

#include "croze/base/error.h"

namespace croze {
namespace {

// zlib's "window bits": the largest window, and how the stream is framed.
int window_of(Inflater::Format format) { return format == Inflater::Format::Raw ? -15 : 15 + 16; }

}  // namespace

Inflater::Inflater(std::span<const std::byte> source, Format format, std::string name)
    : rest_(source), name_(std::move(name)) {
  ensure(inflateInit2(&stream_, window_of(format)) == Z_OK, "zlib could not be started");
}

Inflater::~Inflater() { inflateEnd(&stream_); }

std::int64_t Inflater::read(std::span<std::byte> to) {
  std::size_t filled = 0;
  while (filled < to.size() && !ended_) filled += step(to.subspan(filled));
  return static_cast<std::int64_t>(filled);
}

// One call of inflate: 0 if it only moved on in the input, which happens at the end of a stream.
std::size_t Inflater::step(std::span<std::byte> to) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  const auto in_bytes = static_cast<uInt>(std::min(rest_.size(), most));
  const auto out_bytes = static_cast<uInt>(std::min(to.size(), most));
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
  stream_.avail_in = in_bytes;
  stream_.next_out = reinterpret_cast<Bytef*>(to.data());
  stream_.avail_out = out_bytes;
  const int status = inflate(&stream_, Z_NO_FLUSH);
  rest_ = rest_.subspan(in_bytes - stream_.avail_in);
  check(status != Z_MEM_ERROR, "{}: no memory left to decompress it", name_);
  check(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, "{} is damaged: {}",
        name_, stream_.msg != nullptr ? stream_.msg : "bad compressed data");
  ended_ = status == Z_STREAM_END;
  const std::size_t made = out_bytes - stream_.avail_out;
  check(made > 0 || !rest_.empty() || ended_, "{} is truncated: its compressed data end early",
        name_);
  return made;
}

}  // namespace croze
