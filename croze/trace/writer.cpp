// writer.cpp -- chunks, and the table of texts.
#include "croze/trace/writer.h"

#include <cstring>
#include <utility>

#include "croze/base/error.h"

namespace croze::traces {
namespace {

constexpr std::size_t max_text_bytes = 4 << 20;  // far below what a chunk may have
constexpr std::size_t max_names = 1 << 18;
constexpr std::int64_t max_name_bytes = 64 << 20;
// Longer texts are not looked up: the sources of kernels are written once as it is.
constexpr std::size_t max_known_text = 4 << 10;

std::string number_of_32_bits(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 4; i++, value >>= 8) bytes += static_cast<char>(value & 255);
  return bytes;
}

// Not in the middle of a character of UTF-8.
std::string_view cut(std::string_view text) {
  if (text.size() <= max_text_bytes) return text;
  std::size_t end = max_text_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) end--;
  return text.substr(0, end);
}

}  // namespace

Writer::Writer(std::string path, std::int64_t max_bytes)
    : file_(std::move(path)), max_bytes_(max_bytes) {
  const std::string head = std::string(magic) + number_of_32_bits(version);
  file_.write(head);
  written_ = std::ssize(head);
}

Name Writer::name(std::string_view text) {
  if (text.empty() || is_full_) return 0;
  text = cut(text);
  const bool is_kept = text.size() <= max_known_text;
  if (is_kept) {
    const auto [entry, is_new] = names_.try_emplace(std::string(text), last_name_ + 1);
    if (!is_new) return entry->second;
  }
  const Name number = ++last_name_;
  encoder_.text(text);
  if (is_kept) {
    name_bytes_ += std::ssize(text);
    if (names_.size() >= max_names || name_bytes_ >= max_name_bytes) {
      names_.clear();
      name_bytes_ = 0;
    }
  }
  if (std::ssize(encoder_.bytes()) >= chunk_bytes) flush();
  return number;
}

void Writer::flush() {
  if (encoder_.bytes().empty() || is_full_) return;
  if (written_ + std::ssize(encoder_.bytes()) + 4 > max_bytes_) {
    is_full_ = true;
    lost_.records += waiting_;
  } else {
    write(encoder_.bytes());
  }
  encoder_.clear();
  waiting_ = 0;
}

void Writer::write(std::string_view bytes) {
  try {
    file_.write(number_of_32_bits(bytes.size()).append(bytes));
    written_ += std::ssize(bytes) + 4;
  } catch (const Error& error) {
    failure_ = error.message();
    is_full_ = true;
  }
}

void Writer::finish() {
  flush();
  if (!failure_.empty() || lost_.records == 0) return;
  encoder_.clear();
  encoder_.record(lost_);
  write(encoder_.bytes());
  lost_.records = 0;
}

std::string with_facts(std::string_view bytes, const Trace& trace,
                       const std::vector<std::pair<std::string, std::string>>& facts) {
  ensure(!trace.is_cut, "a chunk cannot follow one that was cut");
  Encoder chunk;
  auto texts = static_cast<Name>(trace.texts.size());
  for (const auto& [key, value] : facts) {
    chunk.text(key);
    chunk.text(value);
    Fact fact{texts + 1, texts + 2};
    chunk.record(fact);
    texts += 2;
  }
  std::string result(bytes);
  result += number_of_32_bits(chunk.bytes().size());
  return result += chunk.bytes();
}

}  // namespace croze::traces
