// safetensors.cpp -- reading and writing of safetensors files.
#include "croze/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/base/printable.h"
#include "croze/io/byte_size.h"

namespace croze {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t max_header_bytes = 100'000'000;
constexpr std::int64_t header_alignment = 64;  // of the first tensor, so that vectors load it fast
constexpr std::string_view metadata_name = "__metadata__";

struct DTypeName {
  DType dtype;
  std::string_view name;
};

// clang-format off
constexpr DTypeName dtype_names[] = {
  {DType::Bool, "BOOL"},
  {DType::Int8, "I8"},     {DType::UInt8, "U8"},
  {DType::Int16, "I16"},   {DType::UInt16, "U16"},
  {DType::Int32, "I32"},   {DType::UInt32, "U32"},
  {DType::Int64, "I64"},   {DType::UInt64, "U64"},
  {DType::Float8E4M3, "F8_E4M3"},         {DType::Float8E5M2, "F8_E5M2"},
  {DType::Float8E4M3FNUZ, "F8_E4M3FNUZ"}, {DType::Float8E5M2FNUZ, "F8_E5M2FNUZ"},
  {DType::Float16, "F16"}, {DType::BFloat16, "BF16"},
  {DType::Float32, "F32"}, {DType::Float64, "F64"},
};
// clang-format on

// One tensor of a header.
struct Entry {
  std::string name;
  DType dtype = DType::Void;
  Shape shape;
  std::int64_t begin = 0, end = 0;  // of its bytes, from the end of the header
};

// ---- reading ----------------------------------------------------------------------------------

std::int64_t size_from(const Json& number, const std::string& what) {
  check(number.is_number_unsigned() && number.get<std::uint64_t>() <= INT64_MAX,
        "{} is not a size: {}", what, shortened(number.dump()));
  return static_cast<std::int64_t>(number.get<std::uint64_t>());
}

const Json& field(const Json& object, const char* name, const std::string& what) {
  const auto it = object.find(name);
  check(it != object.end(), "{} has no {}", what, name);
  return *it;
}

DType dtype_from(const Json& text, const std::string& what) {
  check(text.is_string(), "{}: the dtype is not a text", what);
  const auto& name = text.get_ref<const std::string&>();
  const auto* it = std::ranges::find(dtype_names, std::string_view(name), &DTypeName::name);
  check(it != std::end(dtype_names), "{}: croze has no dtype {}", what, shortened(name));
  return it->dtype;
}

Entry entry_from(const std::string& name, const Json& object, const std::string& path) {
  const std::string what = fmt::format("{}: tensor \"{}\"", path, shortened(name));
  check(object.is_object(), "{} is not described by an object", what);
  Entry entry;
  entry.name = name;
  entry.dtype = dtype_from(field(object, "dtype", what), what);
  const Json& shape = field(object, "shape", what);
  check(shape.is_array() && shape.size() <= 16, "{}: the shape is not a list of at most 16 sizes",
        what);
  for (const Json& size : shape) entry.shape.push_back(size_from(size, what + ": the shape"));
  const Json& offsets = field(object, "data_offsets", what);
  check(offsets.is_array() && offsets.size() == 2, "{}: data_offsets are not two numbers", what);
  entry.begin = size_from(offsets[0], what + ": an offset");
  entry.end = size_from(offsets[1], what + ": an offset");
  const std::optional<std::int64_t> bytes = byte_size(entry.shape, entry.dtype);
  check(bytes.has_value(), "{}: the size of shape {} does not fit 64 bits", what,
        to_text(entry.shape));
  check(entry.begin <= entry.end && entry.end - entry.begin == *bytes,
        "{}: shape {} of {} takes {} bytes, but the data reach from {} to {}", what,
        to_text(entry.shape), name_of(entry.dtype), *bytes, entry.begin, entry.end);
  return entry;
}

struct Header {
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
};

// Takes a header apart while it is parsed: the JSON of one tensor is held at a time, so memory goes
// to what is described and not to the description.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  Header read(std::string_view text) {
    const auto keep = [&](int depth, Event event, Json& parsed) {
      return depth == 0 || take(depth, event, parsed);
    };
    try {
      check(Json::parse(text, keep).is_object(), "{}: the header is not a JSON object", path_);
    } catch (const Json::exception& e) {
      fail({}, "{}: the header is not valid JSON: {}", path_, shortened(e.what()));
    }
    std::vector<std::string_view> names;
    for (const Entry& e : header_.entries) names.push_back(e.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end()) fail_twice(*twice);
    return std::move(header_);
  }

 private:
  using Event = Json::parse_event_t;
  static constexpr int max_depth = 4;
  static constexpr int max_pieces = 64;  // keys and values that describe a tensor
  static constexpr std::int64_t max_names = 1 << 18;

  // Called for each piece of the header; names of tensors are 1 deep.  What it returns false for is
  // dropped.
  bool take(int depth, Event event, Json& parsed) {
    check(depth <= max_depth, "{}: the header nests too deeply", path_);
    if (depth == 1 && event == Event::key) return begin(parsed.get_ref<std::string&>());
    if (depth == 1 && (event == Event::value || event == Event::array_end)) {
      fail({}, "{}: {} is not an object", path_,
           in_metadata_ ? std::string(metadata_name)
                        : fmt::format("tensor \"{}\"", shortened(name_)));
    }
    if (depth == 1 && event == Event::object_end) {
      if (!in_metadata_) header_.entries.push_back(entry_from(name_, parsed, path_));
      return false;
    }
    return in_metadata_ ? take_metadata(depth, event, parsed) : take_field(depth, event, parsed);
  }

  bool begin(std::string& name) {
    check(++names_ <= max_names, "{}: more than {} names", path_, max_names);
    in_metadata_ = name == metadata_name;
    if (in_metadata_ && std::exchange(had_metadata_, true)) fail_twice(name);
    name_ = std::move(name);
    fields_.clear();
    pieces_ = 0;
    return true;
  }

  bool take_metadata(int depth, Event event, Json& parsed) {
    if (depth == 1) return true;
    if (event == Event::key) {
      check(++names_ <= max_names, "{}: more than {} names", path_, max_names);
      key_ = std::move(parsed.get_ref<std::string&>());
      return false;
    }
    check(event == Event::value && parsed.is_string(), "{}: the metadata \"{}\" is not a text",
          path_, shortened(key_));
    const bool is_new =
        header_.metadata.emplace(key_, std::move(parsed.get_ref<std::string&>())).second;
    if (!is_new) fail_twice(key_);
    return false;
  }

  bool take_field(int depth, Event event, Json& parsed) {
    check(++pieces_ <= max_pieces, "{}: too much describes tensor \"{}\"", path_, shortened(name_));
    if (depth != 2 || event != Event::key) return true;
    const auto& field = parsed.get_ref<const std::string&>();
    if (std::ranges::find(fields_, field) != fields_.end()) fail_twice(field);
    fields_.push_back(field);
    return true;
  }

  [[noreturn]] void fail_twice(std::string_view name) {
    fail({}, "{}: the name \"{}\" stands twice", path_, shortened(name));
  }

  const std::string& path_;
  Header header_;
  std::string name_, key_;           // the tensor, and the metadata, that comes now
  std::vector<std::string> fields_;  // of the tensor so far
  int pieces_ = 0;
  std::int64_t names_ = 0;
  bool in_metadata_ = false, had_metadata_ = false;
};

// The data must be covered without holes and overlaps, so nothing can hide in a file and no two
// tensors share memory.
void check_layout(const std::vector<Entry>& entries, std::int64_t data_bytes,
                  const std::string& path) {
  std::int64_t reached = 0;
  for (const Entry& e : entries) {
    check(e.begin == reached,
          "{}: the data of tensor \"{}\" {} those before them: they begin at {}, not {}", path,
          shortened(e.name), e.begin < reached ? "overlap" : "leave a hole after", e.begin,
          reached);
    reached = e.end;
  }
  check(reached == data_bytes, "{}: the header describes {} bytes of data, but {} are there", path,
        reached, data_bytes);
}

Tensor tensor_from(const Entry& entry, std::span<const std::byte> bytes,
                   const std::shared_ptr<const MappedFile>& file, const TensorOptions& options) {
  const TensorOptions here{.dtype = std::nullopt, .device = options.device};
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const bool aligned = address % static_cast<std::uintptr_t>(size_of(entry.dtype)) == 0;
  // A file may place a tensor anywhere; memory that its dtype cannot be loaded from is copied.
  const Tensor t = aligned ? Tensor::from_blob(bytes.data(), entry.shape, entry.dtype, file, here)
                           : Tensor::from_bytes(bytes, entry.dtype, entry.shape, here);
  return options.dtype && is_float(entry.dtype) ? t.cast(*options.dtype) : t;
}

}  // namespace

SafeTensors load_safetensors(const std::string& path, const TensorOptions& options) {
  const auto file = std::make_shared<const MappedFile>(path);
  ByteReader reader = file->reader();
  check(reader.remaining() >= 8, "{} is not a safetensors file: it has {} bytes", path,
        reader.remaining());
  const auto header_bytes = reader.read<std::uint64_t>();
  check(header_bytes <= max_header_bytes, "{}: a header of {} bytes, more than the limit of {}",
        path, header_bytes, max_header_bytes);
  check(static_cast<std::int64_t>(header_bytes) <= reader.remaining(),
        "{}: a header of {} bytes, but {} bytes follow", path, header_bytes, reader.remaining());
  const std::string_view text = reader.text(static_cast<std::int64_t>(header_bytes));
  check(text.starts_with('{'), "{} is not a safetensors file: its header does not begin with {{",
        path);

  SafeTensors result;
  Header header = HeaderReader(path).read(text);
  result.metadata = std::move(header.metadata);
  std::vector<Entry>& entries = header.entries;
  std::ranges::stable_sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  const std::span<const std::byte> data = file->data().subspan(8 + header_bytes);
  check_layout(entries, static_cast<std::int64_t>(data.size()), path);
  for (const Entry& e : entries) {
    const auto bytes =
        data.subspan(static_cast<std::size_t>(e.begin), static_cast<std::size_t>(e.end - e.begin));
    result.tensors.push_back({e.name, tensor_from(e, bytes, file, options)});
  }
  return result;
}

// ---- writing ----------------------------------------------------------------------------------

namespace {

// Wide elements first, so that every tensor is aligned to its elements without holes.
std::vector<const NamedTensor*> in_file_order(const StateDict& tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& t : tensors) order.push_back(&t);
  std::ranges::stable_sort(order, std::greater{},
                           [](const NamedTensor* t) { return size_of(t->tensor.dtype()); });
  return order;
}

void check_names(const std::vector<const NamedTensor*>& order, const std::string& path) {
  std::vector<std::string_view> names;
  for (const NamedTensor* t : order) names.push_back(t->name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) fail({}, "saving {}: two tensors are named \"{}\"", path, *twice);
  check(!std::ranges::binary_search(names, metadata_name),
        "saving {}: {} is not a name for a tensor", path, metadata_name);
}

std::string header_of(const std::vector<const NamedTensor*>& order,
                      const std::map<std::string, std::string>& metadata, const std::string& path) {
  check_names(order, path);
  std::string text = "{";
  std::int64_t offset = 0;
  const auto append = [&](std::string_view name, const std::string& value) {
    if (text.size() > 1) text += ',';
    text += Json(name).dump() + ':' + value;
  };
  try {
    if (!metadata.empty()) append(metadata_name, Json(metadata).dump());
    for (const NamedTensor* t : order) {
      const DType dtype = t->tensor.dtype();
      const Shape shape = t->tensor.shape();
      const std::int64_t end = checked_add(offset, checked_mul(shape.numel(), size_of(dtype)));
      append(t->name, fmt::format(R"({{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  std::ranges::find(dtype_names, dtype, &DTypeName::dtype)->name,
                                  fmt::join(shape, ","), offset, end));
      offset = end;
    }
  } catch (const Json::exception& e) {
    fail({}, "saving {}: a name is not UTF-8: {}", path, shortened(e.what()));
  }
  text += '}';
  const auto length = static_cast<std::int64_t>(text.size()) + 8;
  const std::int64_t padded = (length + header_alignment - 1) / header_alignment * header_alignment;
  text.append(static_cast<std::size_t>(padded - length), ' ');
  check(padded - 8 <= max_header_bytes,
        "saving {}: the names and shapes take {} bytes, more than {}", path, padded - 8,
        max_header_bytes);
  return text;
}

}  // namespace

void save_safetensors(const std::string& path, const StateDict& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<Tensor> values;
  for (const NamedTensor& t : tensors) {
    check(t.tensor.defined(), "saving {}: the tensor \"{}\" is not defined", path, t.name);
    values.push_back(t.tensor);
  }
  const std::vector<const NamedTensor*> order = in_file_order(tensors);
  const std::string header = header_of(order, metadata, path);
  FileWriter file(path);
  const auto header_bytes = static_cast<std::uint64_t>(header.size());
  file.write(std::as_bytes(std::span(&header_bytes, 1)));
  file.write(header);
  realize(values);
  for (const NamedTensor* t : order) file.write(t->tensor.to_bytes());
  file.commit();
}

}  // namespace croze
