// safetensors.cpp -- reading and writing of safetensors files.
#include "io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "io/byte_size.h"

namespace croze {
namespace {

using Json = nlohmann::ordered_json;

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

// Parses JSON that may nest four levels at most, whose objects have no key twice.
Json parse_header(std::string_view text, const std::string& path) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    check(depth <= 4, "{}: the header nests too deeply", path);
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string key = parsed.get<std::string>();
      check(keys.back().insert(key).second, "{}: the name \"{}\" stands twice", path, key);
    }
    return true;
  };
  try {
    Json header = Json::parse(text, watch);
    check(header.is_object(), "{}: the header is not a JSON object", path);
    return header;
  } catch (const Json::exception& e) {
    fail({}, "{}: the header is not valid JSON: {}", path, e.what());
  }
}

std::int64_t size_from(const Json& number, const std::string& what) {
  check(number.is_number_unsigned() && number.get<std::uint64_t>() <= INT64_MAX,
        "{} is not a size: {}", what, number.dump().substr(0, 80));
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
  check(it != std::end(dtype_names), "{}: croze has no dtype {}", what, name.substr(0, 40));
  return it->dtype;
}

Entry entry_from(const std::string& name, const Json& object, const std::string& path) {
  const std::string what = fmt::format("{}: tensor \"{}\"", path, name.substr(0, 200));
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

// The data must be covered without holes and overlaps, so nothing can hide in a file and no two
// tensors share memory.
void check_layout(const std::vector<Entry>& entries, std::int64_t data_bytes,
                  const std::string& path) {
  std::int64_t reached = 0;
  for (const Entry& e : entries) {
    check(e.begin == reached,
          "{}: the data of tensor \"{}\" {} those before them: they begin at {}, not {}", path,
          e.name.substr(0, 200), e.begin < reached ? "overlap" : "leave a hole after", e.begin,
          reached);
    reached = e.end;
  }
  check(reached == data_bytes, "{}: the header describes {} bytes of data, but {} are there", path,
        reached, data_bytes);
}

std::map<std::string, std::string> metadata_from(const Json& object, const std::string& path) {
  check(object.is_object(), "{}: {} is not an object", path, metadata_name);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) {
    check(value.is_string(), "{}: the metadata \"{}\" is not a text", path, key.substr(0, 200));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
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
  std::vector<Entry> entries;
  const Json header = parse_header(text, path);
  for (const auto& [name, value] : header.items()) {
    if (name == metadata_name) {
      result.metadata = metadata_from(value, path);
    } else {
      entries.push_back(entry_from(name, value, path));
    }
  }
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

std::string header_of(const std::vector<const NamedTensor*>& order,
                      const std::map<std::string, std::string>& metadata, const std::string& path) {
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(metadata_name)] = metadata;
  std::int64_t offset = 0;
  for (const NamedTensor* t : order) {
    check(t->name != metadata_name, "{} is not a name for a tensor", t->name);
    check(!header.contains(t->name), "saving {}: two tensors are named \"{}\"", path, t->name);
    const DType dtype = t->tensor.dtype();
    const Shape shape = t->tensor.shape();
    const std::int64_t end = checked_add(offset, checked_mul(shape.numel(), size_of(dtype)));
    header[t->name] = {{"dtype", std::ranges::find(dtype_names, dtype, &DTypeName::dtype)->name},
                       {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())},
                       {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& e) {
    fail({}, "saving {}: a name is not UTF-8: {}", path, e.what());
  }
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
