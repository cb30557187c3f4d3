// file.cpp -- the format of step files.
//
//   "CROZSTEP", a version, a zero, the bytes of the head, their hash
//   the head: the fields of a plan, as the functions `fields` below list them
//   zeros up to a whole page, then the weights
//
// or, if the head names another file, the weights are there:
//
//   "CROZWGHT", a version, a zero, the hash of the weights, which the head repeats
//   zeros up to a whole page, then the weights
//
// Numbers are little-endian, lists and texts have their length before them.  The hash shows that
// the head is whole.  Nothing in it is believed for that: lengths are bounded by the bytes that
// remain, and check_plan() judges the rest.  The weights are not read before they are used.
#include "croze/prepared/file.h"

#include <filesystem>
#include <utility>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/base/hash.h"
#include "croze/graph/text/archive.h"

namespace croze {

// ---- fields, which archives find beside the types ----------------------------------------------

template <typename A>
void fields(A& a, StepValue& v) {
  std::vector<std::int64_t> sizes(v.shape.begin(), v.shape.end());
  a(v.name), a(sizes), a(v.dtype), a(v.offset);
  v.shape = Shape(sizes);
}

namespace prepared {

template <typename A>
void fields(A& a, Place& p) {
  a(p.in), a(p.offset), a(p.bytes);
}
template <typename A>
void fields(A& a, Function& f) {
  a(f.name), a(f.code), a(f.scratch_bytes), a(f.buffers), a(f.variables);
}
template <typename A>
void fields(A& a, Call& c) {
  a(c.function), a(c.tasks), a(c.buffers), a(c.variables);
}
template <typename A>
void fields(A& a, CallSequence& s) {
  a(s.blocks), a(s.calls);
}
template <typename A>
void fields(A& a, Copy& c) {
  a(c.to), a(c.from);
}

}  // namespace prepared
}  // namespace croze

namespace croze::prepared {
namespace {

constexpr std::string_view step_mark = "CROZSTEP", weights_mark = "CROZWGHT";
// Of the format, and of how kernels are called (device.h, HostFunction).
constexpr std::uint32_t version = 1;
constexpr std::int64_t page = 4096;

struct Head {
  Plan plan;
  std::string weights_file;  // empty: this one
  std::int64_t weight_bytes = 0;
  std::uint64_t weights_hash = 0;
};

template <typename A>
void fields(A& a, Head& head) {
  Plan& p = head.plan;
  a(p.extensions), a(p.inputs), a(p.results), a(p.state), a(p.functions);
  a(p.copies_in), a(p.copies_out), a(p.sequences);
  a(p.random_keys), a(p.random.seed), a(p.random.draws);
  a(p.memory_bytes), a(p.scratch_offset), a(p.start);
  a(head.weights_file), a(head.weight_bytes), a(head.weights_hash);
}

// ---- writing ----------------------------------------------------------------------------------

// What a file begins with.
struct Front {
  std::uint64_t bytes = 0;  // of the head; of a file of weights, 0
  std::uint64_t hash = 0;
};
constexpr std::int64_t front_bytes = 32;

std::string front(std::string_view mark, const Front& front) {
  ArchiveWriter writer;
  writer.bytes = mark;
  std::uint32_t number = version, zero = 0;
  Front f = front;
  writer(number), writer(zero), writer(f.bytes), writer(f.hash);
  return std::move(writer.bytes);
}

std::int64_t up_to_page(std::int64_t bytes) { return checked_add(bytes, page - 1) / page * page; }

void write_padded(FileWriter& file, std::string text) {
  text.resize(static_cast<std::size_t>(up_to_page(std::ssize(text))));
  file.write(text);
}

// ---- reading ----------------------------------------------------------------------------------

Front read_front(ByteReader& reader, std::string_view mark, const std::string& path) {
  check(reader.remaining() >= front_bytes && reader.text(std::ssize(mark)) == mark,
        "{} is no file of a step", path);
  const auto number = reader.read<std::uint32_t>();
  check(number == version, "{} is of version {} of step files; this croze reads version {}", path,
        number, version);
  check(reader.read<std::uint32_t>() == 0, "{} is damaged", path);
  Front front;
  front.bytes = reader.read<std::uint64_t>();
  front.hash = reader.read<std::uint64_t>();
  return front;
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

// Where the weights stand in a file, which ends with them.
void take_weights(Head& head, std::shared_ptr<const MappedFile> file, std::int64_t offset) {
  const std::span<const std::byte> data = file->data();
  check(head.weight_bytes >= 0 && offset <= std::ssize(data) &&
            head.weight_bytes == std::ssize(data) - offset,
        "{} is damaged: it has not the {} bytes of weights of the step", file->path(),
        head.weight_bytes);
  head.plan.weights = data.subspan(static_cast<std::size_t>(offset));
  head.plan.weights_owner = std::move(file);
}

void read_weights_beside(Head& head, const std::string& path) {
  auto file =
      std::make_shared<const MappedFile>(MappedFile::inside(folder_of(path), head.weights_file));
  ByteReader reader = file->reader();
  const Front front = read_front(reader, weights_mark, file->path());
  check(front.hash == head.weights_hash, "{} holds the weights of another step than {}",
        file->path(), path);
  take_weights(head, std::move(file), page);
}

}  // namespace

void write_step(const Plan& plan, const std::string& path, const std::string& weights) {
  const bool is_beside = !weights.empty();
  check(weights.find('/') == weights.npos && weights != "." && weights != "..",
        "the weights of a step are in a file beside it, which \"{}\" does not name", weights);
  check(!is_beside || std::filesystem::path(path).filename() != weights,
        "the weights of a step cannot be in the file of the step, {}", path);
  Head head{plan, weights, std::ssize(plan.weights), hash_bytes(as_text(plan.weights))};
  if (is_beside) {
    FileWriter file(folder_of(path) + "/" + weights);
    write_padded(file, front(weights_mark, {0, head.weights_hash}));
    file.write(plan.weights);
    file.commit();
  }
  ArchiveWriter writer;
  writer(head);
  FileWriter file(path);
  write_padded(file,
               front(step_mark, {writer.bytes.size(), hash_bytes(writer.bytes)}) + writer.bytes);
  if (!is_beside) file.write(plan.weights);
  file.commit();
}

Plan read_step(const std::string& path) {
  auto file = std::make_shared<const MappedFile>(path);
  ByteReader reader = file->reader();
  const Front front = read_front(reader, step_mark, path);
  check(front.bytes <= static_cast<std::uint64_t>(reader.remaining()),
        "{} is damaged: it is cut short", path);
  const auto bytes = reader.bytes(static_cast<std::int64_t>(front.bytes));
  check(hash_bytes(as_text(bytes)) == front.hash, "{} is damaged", path);
  Head head;
  ArchiveReader fields_of_head(ByteReader(bytes, path));
  fields_of_head(head);
  fields_of_head.end();
  if (head.weights_file.empty()) {
    take_weights(head, file, up_to_page(reader.offset()));
  } else {
    read_weights_beside(head, path);
  }
  return std::move(head.plan);
}

}  // namespace croze::prepared
