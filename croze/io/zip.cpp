// zip.cpp -- zip archives.  The format: PKWARE's APPNOTE.TXT; the numbers at the head of each
// record are its signature.
#include "croze/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/io/inflate.h"

namespace croze {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50,
                        end_signature = 0x06054b50;
constexpr std::uint32_t large_place_signature = 0x07064b50, large_end_signature = 0x06064b50;
constexpr std::int64_t large_place_bytes = 20, max_entries = 1 << 20;
constexpr std::int64_t end_bytes = 22, local_bytes = 30, max_comment_bytes = 65535;
constexpr std::uint32_t not_here = 0xffffffff;  // the number stands in the extra field
constexpr std::int64_t max_ratio = 1032;        // of deflate

struct End {
  std::int64_t count, bytes, offset;  // of the central directory
};

// Of archives that are large there are two records more before the end: where the end is that has
// numbers of 64 bits, and this itself.
End find_large_end(const MappedFile& file, std::int64_t end) {
  ByteReader reader = file.reader();
  check(end >= large_place_bytes, "{}: the end of the archive is damaged", file.path());
  reader.seek(end - large_place_bytes);
  if (reader.read<std::uint32_t>() != large_place_signature) reader.fail_here("a damaged end");
  reader.skip(4);  // disk
  reader.seek(reader.read<std::int64_t>());
  if (reader.read<std::uint32_t>() != large_end_signature) reader.fail_here("a damaged end");
  reader.skip(8 + 4 + 4 + 4);  // size, versions, disks
  const auto here = reader.read<std::int64_t>(), count = reader.read<std::int64_t>();
  const auto bytes = reader.read<std::int64_t>(), offset = reader.read<std::int64_t>();
  check(here == count && count >= 0 && count < max_entries, "{}: an archive of {} files",
        file.path(), count);
  return {count, bytes, offset};
}

// The last record stands at the very end, before a comment.
End find_end(const MappedFile& file) {
  const auto size = static_cast<std::int64_t>(file.data().size());
  for (std::int64_t at = size - end_bytes;
       at >= std::max<std::int64_t>(0, size - end_bytes - max_comment_bytes); at--) {
    ByteReader reader = file.reader();
    reader.seek(at);
    if (reader.read<std::uint32_t>() != end_signature) continue;
    const auto disk = reader.read<std::uint16_t>(), first_disk = reader.read<std::uint16_t>();
    const auto here = reader.read<std::uint16_t>(), count = reader.read<std::uint16_t>();
    const auto bytes = reader.read<std::uint32_t>(), offset = reader.read<std::uint32_t>();
    const auto comment = reader.read<std::uint16_t>();
    if (comment != reader.remaining()) continue;
    check(disk == 0 && first_disk == 0 && here == count, "{} is one part of a split archive",
          file.path());
    if (count != 0xffff && bytes != not_here && offset != not_here) return {count, bytes, offset};
    return find_large_end(file, at);
  }
  fail({}, "{} is not a zip archive", file.path());
}

// Sizes of 4 GB and more stand in a field of the extra data, in this order, those that are needed.
void read_large_sizes(ByteReader extra, ZipEntry& entry) {
  constexpr std::uint16_t zip64 = 1;
  while (extra.remaining() >= 4) {
    const auto id = extra.read<std::uint16_t>();
    const auto length = extra.read<std::uint16_t>();
    if (id != zip64) {
      extra.skip(length);
      continue;
    }
    for (std::int64_t* size : {&entry.bytes, &entry.packed_bytes, &entry.offset}) {
      if (*size == not_here) *size = extra.read<std::int64_t>();
    }
    return;
  }
}

ZipEntry read_entry(ByteReader& reader, const std::string& path) {
  if (reader.read<std::uint32_t>() != central_signature) reader.fail_here("a damaged directory");
  reader.skip(4);  // versions
  const auto flags = reader.read<std::uint16_t>(), method = reader.read<std::uint16_t>();
  reader.skip(4);  // time
  ZipEntry entry;
  entry.checksum = reader.read<std::uint32_t>();
  entry.packed_bytes = reader.read<std::uint32_t>();
  entry.bytes = reader.read<std::uint32_t>();
  const auto name_bytes = reader.read<std::uint16_t>(), extra_bytes = reader.read<std::uint16_t>();
  const auto comment_bytes = reader.read<std::uint16_t>();
  reader.skip(8);  // disk, attributes
  entry.offset = reader.read<std::uint32_t>();
  entry.name = reader.text(name_bytes);
  read_large_sizes(ByteReader(reader.bytes(extra_bytes), path), entry);
  reader.skip(comment_bytes);
  const std::string what = fmt::format("{}: \"{}\"", path, shortened(entry.name));
  check((flags & 1) == 0, "{} is encrypted", what);
  check(method == 0 || method == 8, "{} is packed by method {}, which is not read", what, method);
  entry.is_stored = method == 0;
  check(entry.bytes >= 0 && entry.packed_bytes >= 0 && entry.offset >= 0, "{} has no size", what);
  check(!entry.is_stored || entry.bytes == entry.packed_bytes, "{} has two sizes", what);
  check(entry.bytes / max_ratio <= entry.packed_bytes, "{} cannot unpack to {} bytes", what,
        entry.bytes);
  return entry;
}

// The directory says where the entry's own header is; the bytes follow that.
void find_bytes(const MappedFile& file, ZipEntry& entry) {
  ByteReader reader = file.reader();
  reader.seek(entry.offset);
  if (reader.read<std::uint32_t>() != local_signature) reader.fail_here("no file begins here");
  reader.skip(local_bytes - 8);
  const auto name_bytes = reader.read<std::uint16_t>(), extra_bytes = reader.read<std::uint16_t>();
  reader.skip(name_bytes + extra_bytes);
  entry.offset = reader.offset();
  reader.skip(entry.packed_bytes);
}

}  // namespace

ZipReader::ZipReader(const std::string& path) : file_(std::make_shared<const MappedFile>(path)) {
  const End end = find_end(*file_);
  ByteReader all = file_->reader();
  all.seek(end.offset);
  ByteReader directory(all.bytes(end.bytes), path);
  std::set<std::string> names;
  for (std::int64_t i = 0; i < end.count; i++) {
    entries_.push_back(read_entry(directory, path));
    find_bytes(*file_, entries_.back());
    check(names.insert(entries_.back().name).second, "{}: the name \"{}\" stands twice", path,
          shortened(entries_.back().name));
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const ZipEntry& e : entries_) places.emplace_back(e.offset, e.offset + e.packed_bytes);
  std::ranges::sort(places);
  for (std::size_t i = 1; i < places.size(); i++) {
    check(places[i - 1].second <= places[i].first, "{}: two files overlap", path);
  }
}

std::span<const std::byte> ZipReader::packed(const ZipEntry& entry) const {
  ByteReader reader = file_->reader();
  reader.seek(entry.offset);
  return reader.bytes(entry.packed_bytes);
}

void ZipReader::check_sum(const ZipEntry& entry, std::span<const std::byte> bytes) const {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  const uLong sum = crc32_z(crc32_z(0, nullptr, 0), data, bytes.size());
  check(sum == entry.checksum, "{}: \"{}\" is damaged", file_->path(), shortened(entry.name));
}

std::span<const std::byte> ZipReader::stored(const ZipEntry& entry) const {
  ensure(entry.is_stored, "{} is not stored as it is", entry.name);
  const auto bytes = packed(entry);
  if (!bytes.empty()) check_sum(entry, bytes);
  return bytes;
}

std::vector<std::byte> ZipReader::read(const ZipEntry& entry) const {
  if (entry.is_stored) {
    const auto bytes = stored(entry);
    return {bytes.begin(), bytes.end()};
  }
  const std::string what = fmt::format("{}: \"{}\"", file_->path(), shortened(entry.name));
  Inflater inflater(packed(entry), Inflater::Format::Raw, what);
  const auto result = read_growing(entry.bytes, entry.packed_bytes * usual_ratio,
                                   [&](std::span<std::byte> to) { return inflater.read(to); });
  std::byte extra;
  const bool whole = static_cast<std::int64_t>(result.size()) == entry.bytes &&
                     inflater.read(std::span(&extra, 1)) == 0;
  check(whole, "{} does not unpack to the {} bytes that it promises", what, entry.bytes);
  check_sum(entry, result);
  return result;
}

// ---- writing ----------------------------------------------------------------------------------

namespace {

// Numbers in the order of a record, little endian.
template <typename... Numbers>
void append(std::vector<std::byte>& record, Numbers... numbers) {
  const auto one = [&](auto number) {
    for (std::size_t i = 0; i < sizeof(number); i++) {
      record.push_back(
          static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff));
    }
  };
  (one(numbers), ...);
}

constexpr std::uint16_t version = 20, no_flags = 0, stored_method = 0, no_time = 0,
                        first_day = 0x21;  // 1980-01-01: archives of equal content are equal

std::uint32_t narrow(std::int64_t size) {
  check(size < not_here, "the archive is larger than 4 GB");
  return static_cast<std::uint32_t>(size);
}

}  // namespace

void ZipWriter::add(const std::string& name, std::span<const std::span<const std::byte>> parts) {
  ZipEntry entry{.name = name, .offset = written_, .is_stored = true};
  uLong sum = crc32_z(0, nullptr, 0);
  for (const auto part : parts) {
    if (part.empty()) continue;
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
    entry.bytes += static_cast<std::int64_t>(part.size());
  }
  entry.checksum = static_cast<std::uint32_t>(sum);
  entry.packed_bytes = entry.bytes;
  const std::uint32_t size = narrow(entry.bytes);
  std::vector<std::byte> header;
  append(header, local_signature, version, no_flags, stored_method, no_time, first_day,
         entry.checksum, size, size, static_cast<std::uint16_t>(name.size()), std::uint16_t{0});
  file_.write(header);
  file_.write(name);
  for (const auto part : parts) file_.write(part);
  written_ += static_cast<std::int64_t>(header.size() + name.size()) + entry.bytes;
  entries_.push_back(std::move(entry));
}

void ZipWriter::commit() {
  std::int64_t bytes = 0;
  for (const ZipEntry& e : entries_) {
    std::vector<std::byte> header;
    const std::uint32_t size = narrow(e.bytes);
    append(header, central_signature, version, version, no_flags, stored_method, no_time, first_day,
           e.checksum, size, size, static_cast<std::uint16_t>(e.name.size()), std::uint16_t{0},
           std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0}, std::uint32_t{0},
           narrow(e.offset));
    file_.write(header);
    file_.write(e.name);
    bytes += static_cast<std::int64_t>(header.size() + e.name.size());
  }
  check(entries_.size() < 0xffff, "an archive of {} files", entries_.size());
  const auto count = static_cast<std::uint16_t>(entries_.size());
  std::vector<std::byte> end;
  append(end, end_signature, std::uint16_t{0}, std::uint16_t{0}, count, count, narrow(bytes),
         narrow(written_), std::uint16_t{0});
  file_.write(end);
  file_.commit();
}

}  // namespace croze
