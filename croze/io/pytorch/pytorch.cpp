// pytorch.cpp -- files of torch.save.
//
// Since version 1.6 they are zip archives: NAME/data.pkl is the pickle, NAME/data/KEY a storage,
// and NAME/byteorder says how numbers lie.  Before, a file was pickles one behind the other: a
// number by which it is known, a version, what the machine was like, the object, the keys of its
// storages; then each storage, as the number of its elements and these.
#include "croze/io/pytorch/pytorch.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "croze/base/bytes.h"
#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/io/pytorch/pickle.h"
#include "croze/io/pytorch/storages.h"
#include "croze/io/zip.h"

namespace croze {
namespace pytorch {
namespace {

using Object = PickledObject;
using Kind = Object::Kind;

struct Checkpoint {
  Pickle pickle;
  Storages storages;
};

// ---- the zip format ---------------------------------------------------------------------------

constexpr std::string_view pickle_name = "data.pkl";

// The folder that all files of the archive lie in, with its slash.
std::string folder_of(const ZipReader& archive, const std::string& path) {
  for (const ZipEntry& e : archive.entries()) {
    const std::size_t slash = e.name.rfind('/') + 1;  // npos + 1 is 0
    if (std::string_view(e.name).substr(slash) == pickle_name) return e.name.substr(0, slash);
  }
  fail({}, "{} is an archive, but not of PyTorch: it has no {}", path, pickle_name);
}

// A storage that is stored as it is stays in the mapped file, and its checksum is not looked at:
// that would read all of it.
Storages::Bytes bytes_of(const ZipReader& archive, const ZipEntry& entry) {
  if (entry.is_stored) return {archive.packed(entry), archive.file()};
  const auto bytes = std::make_shared<const std::vector<std::byte>>(archive.read(entry));
  return {*bytes, bytes};
}

Checkpoint read_zip(const std::string& path) {
  const ZipReader archive(path);
  const std::string folder = folder_of(archive, path);
  const std::string data = folder + "data/";
  Checkpoint result;
  result.storages.file_bytes = std::ssize(archive.file()->data());
  for (const ZipEntry& e : archive.entries()) {
    if (e.name.starts_with(data)) {
      result.storages.by_key[e.name.substr(data.size())] = bytes_of(archive, e);
    } else if (e.name == folder + "byteorder") {
      const std::vector<std::byte> bytes = archive.read(e);
      const std::string_view order = as_text(bytes);
      check(order == "little" || order == "big", "{}: a byte order \"{}\"", path, shortened(order));
      result.storages.big_endian = order == "big";
    } else if (e.name == folder + std::string(pickle_name)) {
      const std::vector<std::byte> bytes = archive.read(e);
      ByteReader reader(bytes, path);
      result.pickle = read_pickle(reader, path);
    }
  }
  return result;
}

// ---- the format before ------------------------------------------------------------------------

// A pickle of the number 0x1950a86a20f9469cfc6c.
constexpr std::array<unsigned char, 15> legacy_magic = {
    0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};

bool begins_as_legacy(std::span<const std::byte> bytes) {
  return bytes.size() >= legacy_magic.size() &&
         std::ranges::equal(bytes.first(legacy_magic.size()), legacy_magic, {},
                            [](std::byte b) { return std::to_integer<unsigned char>(b); });
}

const Object& root_of(const Pickle& pickle) {
  return pickle.objects[static_cast<std::size_t>(pickle.root)];
}

bool is_big_endian(const Pickle& system) {
  const Object& dict = root_of(system);
  for (std::size_t i = 0; dict.kind == Kind::Dict && i + 1 < dict.parts.size(); i += 2) {
    const Object& key = system.objects[static_cast<std::size_t>(dict.parts[i])];
    const Object& value = system.objects[static_cast<std::size_t>(dict.parts[i + 1])];
    if (key.text == "little_endian") return value.kind == Kind::Flag && value.integer == 0;
  }
  return false;
}

// The bytes of an element of each storage that the pickle names.
std::map<std::string, std::int64_t, std::less<>> element_sizes(const Pickle& pickle,
                                                               const std::string& path) {
  std::map<std::string, std::int64_t, std::less<>> sizes;
  const auto object = [&](int number) -> const Object& {
    return pickle.objects[static_cast<std::size_t>(number)];
  };
  for (const Object& o : pickle.objects) {
    if (o.kind != Kind::Storage) continue;
    const bool is_view = o.parts.size() > 5 && object(o.parts[5]).kind != Kind::None;
    check(!is_view, "{}: views of storages are not read", path);
    sizes[object(o.parts[2]).text] = storage_size(pickle, o, path).element_bytes;
  }
  return sizes;
}

Checkpoint read_legacy(const std::shared_ptr<const MappedFile>& file) {
  constexpr std::int64_t known_version = 1001;
  const std::string& path = file->path();
  ByteReader reader = file->reader();
  reader.skip(std::ssize(legacy_magic));
  const Pickle version = read_pickle(reader, path);
  check(root_of(version).integer == known_version, "{}: version {} of the format, not {}", path,
        root_of(version).integer, known_version);
  const Pickle system = read_pickle(reader, path);
  Checkpoint result{.pickle = read_pickle(reader, path), .storages = {}};
  const Pickle keys = read_pickle(reader, path);
  check(root_of(keys).kind == Kind::List, "{}: the storages are no list", path);
  result.storages.big_endian = is_big_endian(system);
  result.storages.file_bytes = std::ssize(file->data());
  const auto sizes = element_sizes(result.pickle, path);
  for (const int number : root_of(keys).parts) {
    const std::string& key = keys.objects[static_cast<std::size_t>(number)].text;
    const auto size = sizes.find(key);
    check(size != sizes.end(), "{}: the storage \"{}\" is of no tensor", path, shortened(key));
    const auto count = result.storages.big_endian ? reader.read_big_endian<std::int64_t>()
                                                  : reader.read<std::int64_t>();
    result.storages.by_key[key] = {reader.elements(count, size->second), file};
  }
  return result;
}

// ---- what is in it ----------------------------------------------------------------------------

// Names what stands in containers, without recursion.  An object may stand in several, or in
// itself: no more names are given out than a file could hold.
class Flattener {
 public:
  Flattener(const Checkpoint& checkpoint, const std::string& path, const TensorOptions& options)
      : pickle_(checkpoint.pickle),
        maker_(checkpoint.pickle, checkpoint.storages, path, options),
        path_(path),
        names_left_(std::ssize(checkpoint.pickle.objects) + 1000) {}

  PyTorchFile run();

 private:
  struct Open {
    std::string name;
    int number;
  };
  static constexpr std::size_t max_name_bytes = 4096;

  const Object& object(int number) const {
    return pickle_.objects[static_cast<std::size_t>(number)];
  }
  void put(const Open& what);
  // Elements are put on the stack the last first.
  void open(const std::string& name, const Object& container);
  std::string member_name(const std::string& name, const Object& container, std::size_t i) const;

  const Pickle& pickle_;
  TensorMaker maker_;
  const std::string& path_;
  std::int64_t names_left_;
  std::vector<Open> stack_;
  PyTorchFile result_;
};

PyTorchFile Flattener::run() {
  stack_.push_back({"", pickle_.root});
  while (!stack_.empty()) {
    const Open next = std::move(stack_.back());
    stack_.pop_back();
    check(names_left_-- > 0, "{}: its objects stand in each other too often", path_);
    check(next.name.size() <= max_name_bytes, "{}: names of more than {} bytes", path_,
          max_name_bytes);
    put(next);
  }
  return std::move(result_);
}

void Flattener::put(const Open& what) {
  const Object& o = object(what.number);
  const auto value = [&](PyTorchValue v) { result_.values.emplace_back(what.name, std::move(v)); };
  switch (o.kind) {
    case Kind::None: return value(std::monostate());
    case Kind::Flag: return value(o.integer != 0);
    case Kind::Integer: return value(o.integer);
    case Kind::Float: return value(o.number);
    case Kind::Text: return value(o.text);
    case Kind::Global: return value(o.text);
    case Kind::Bytes: {
      const auto bytes = std::as_bytes(std::span(o.text));
      return value(std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    case Kind::Tensor: result_.tensors.push_back({what.name, maker_.make(o, what.name)}); return;
    case Kind::List:
    case Kind::Tuple:
    case Kind::Dict: return open(what.name, o);
    case Kind::Storage: break;
  }
  fail({}, "{}: \"{}\" is a storage without a tensor", path_, shortened(what.name));
}

std::string Flattener::member_name(const std::string& name, const Object& container,
                                   std::size_t i) const {
  std::string member = std::to_string(i);
  if (container.kind == Kind::Dict) {
    const Object& key = object(container.parts[2 * i]);
    check(key.kind == Kind::Text || key.kind == Kind::Integer || key.kind == Kind::Flag,
          "{}: a key of \"{}\" is neither a text nor an integer", path_, shortened(name));
    member = key.kind == Kind::Text ? key.text : std::to_string(key.integer);
  }
  return name.empty() ? member : name + "." + member;
}

void Flattener::open(const std::string& name, const Object& container) {
  const bool is_dict = container.kind == Kind::Dict;
  const std::size_t count = container.parts.size() / (is_dict ? 2 : 1);
  check(std::ssize(stack_) + static_cast<std::int64_t>(count) <= names_left_,
        "{}: its objects stand in each other too often", path_);
  for (std::size_t i = count; i-- > 0;) {
    stack_.push_back({member_name(name, container, i), container.parts[is_dict ? 2 * i + 1 : i]});
  }
}

}  // namespace
}  // namespace pytorch

bool begins_as_pytorch(std::span<const std::byte> bytes) {
  return pytorch::begins_as_legacy(bytes) || as_text(bytes).starts_with("PK");
}

PyTorchFile load_pytorch(const std::string& path, const TensorOptions& options) {
  const auto file = std::make_shared<const MappedFile>(path);
  check(begins_as_pytorch(file->data()), "{} is no file of torch.save: it begins as none", path);
  const pytorch::Checkpoint checkpoint = pytorch::begins_as_legacy(file->data())
                                             ? pytorch::read_legacy(file)
                                             : pytorch::read_zip(path);
  PyTorchFile result = pytorch::Flattener(checkpoint, path, options).run();
  std::vector<std::string_view> names;
  for (const NamedTensor& t : result.tensors) names.push_back(t.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) {
    fail({}, "{}: two tensors are named \"{}\"", path, shortened(*twice));
  }
  return result;
}

}  // namespace croze
