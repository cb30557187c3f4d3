// storages.cpp -- a tensor is a view of a storage: an offset, and for each axis a size and a
// stride.
//
// Elements that lie one behind the other, in the order of the axes or of some other order of them,
// are taken as they lie, and the axes put in order by a permutation.  Axes of stride zero are
// expanded ones: one element of theirs is there.  All other views are copied.
#include "croze/io/pytorch/storages.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/io/pytorch/globals.h"

namespace croze::pytorch {
namespace {

constexpr std::size_t max_rank = 16;

// Copies of views may take so much: of the file, since many views may be of one storage.
constexpr std::int64_t max_copies = 4, always_copied = 64 << 20;

std::optional<DType> dtype_of(const PickledObject& global) {
  const Global* found = find_global(global.text);
  return found ? found->dtype : std::nullopt;
}

}  // namespace

struct TensorMaker::View {
  Storages::Bytes memory;
  DType dtype = DType::Void;
  std::int64_t offset = 0;  // in elements, as strides are
  Shape sizes, strides;
};

StorageSize storage_size(const Pickle& pickle, const PickledObject& storage,
                         const std::string& path) {
  const auto part = [&](std::size_t i) -> const PickledObject& {
    return pickle.objects[static_cast<std::size_t>(storage.parts[i])];
  };
  const std::optional<DType> dtype = dtype_of(part(1));
  check(dtype.has_value(), "{}: croze has no dtype for {}", path, part(1).text);
  const std::int64_t count = part(4).integer;
  check(count >= 0, "{}: a storage of {} elements", path, count);
  return {count, size_of(*dtype)};
}

TensorMaker::View TensorMaker::view_of(const PickledObject& tensor, const std::string& what) const {
  const PickledObject& storage = object(tensor.parts[0]);
  const bool has_dtype = tensor.parts.size() > 4;
  const PickledObject& type = object(has_dtype ? tensor.parts[4] : storage.parts[1]);
  const std::optional<DType> dtype =
      type.kind == PickledObject::Kind::Global ? dtype_of(type) : std::nullopt;
  check(dtype.has_value(), "{}: croze has no dtype for {}", what, shortened(type.text));
  const std::string& key = object(storage.parts[2]).text;
  const auto memory = storages_.by_key.find(key);
  check(memory != storages_.by_key.end(), "{}: its storage \"{}\" is not in the file", what,
        shortened(key));
  View view{.memory = memory->second, .dtype = *dtype, .offset = object(tensor.parts[1]).integer};
  const auto numbers = [&](int tuple) {
    const std::vector<int>& parts = object(tuple).parts;
    check(parts.size() <= max_rank, "{} has {} axes, more than {}", what, parts.size(), max_rank);
    Shape result;
    for (const int number : parts) {
      const PickledObject& size = object(number);
      check(size.kind == PickledObject::Kind::Integer && size.integer >= 0,
            "{}: a size or stride that is no number that counts", what);
      result.push_back(size.integer);
    }
    return result;
  };
  view.sizes = numbers(tensor.parts[2]);
  view.strides = numbers(tensor.parts[3]);
  check(view.sizes.size() == view.strides.size(), "{}: {} sizes, but {} strides", what,
        view.sizes.size(), view.strides.size());
  check(view.offset >= 0, "{}: an offset of {}", what, view.offset);
  return view;
}

std::shared_ptr<const std::vector<std::byte>> TensorMaker::copied(const View& view,
                                                                  const std::string& what) {
  const std::int64_t width = size_of(view.dtype), bytes = checked_mul(view.sizes.numel(), width);
  copied_bytes_ = checked_add(copied_bytes_, bytes);
  check(copied_bytes_ <= always_copied + max_copies * storages_.file_bytes,
        "{}: with this one, views that have to be copied take {} bytes", what, copied_bytes_);
  const auto result =
      std::make_shared<std::vector<std::byte>>(sized_vector<std::byte>(bytes, what));
  const std::byte* from = view.memory.bytes.data() + view.offset * width;
  Shape place(std::vector<std::int64_t>(static_cast<std::size_t>(view.sizes.size()), 0));
  for (std::int64_t to = 0, at = 0; to < bytes; to += width) {
    std::copy_n(from + at * width, width, result->data() + to);
    for (int axis = static_cast<int>(view.sizes.size()) - 1; axis >= 0; axis--) {
      at += view.strides[axis];
      if (++place[axis] < view.sizes[axis]) break;
      at -= view.strides[axis] * view.sizes[axis];
      place[axis] = 0;
    }
  }
  if (storages_.big_endian && width > 1) {
    for (std::int64_t i = 0; i < bytes; i += width) {
      std::reverse(result->begin() + i, result->begin() + i + width);
    }
  }
  return result;
}

// A tensor of a view without axes of stride zero, which is not empty and lies in its storage.
Tensor TensorMaker::dense(const View& view, const std::string& what) {
  const TensorOptions here{.dtype = std::nullopt, .device = options_.device};
  std::vector<std::int64_t> order(static_cast<std::size_t>(view.sizes.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](std::int64_t i) { return view.strides[i]; });
  Shape sorted, back(order);
  for (std::size_t i = 0; i < order.size(); i++) {
    sorted.push_back(view.sizes[order[i]]);
    back[order[i]] = static_cast<std::int64_t>(i);
  }
  bool packed = true;
  std::int64_t expected = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::int64_t axis = order[i];
    packed = packed && (view.sizes[axis] == 1 || view.strides[axis] == expected);
    expected *= view.sizes[axis];
  }
  const std::byte* first = view.memory.bytes.data() + view.offset * size_of(view.dtype);
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(size_of(view.dtype)) ==
      0;
  const bool as_it_is = packed && aligned && (!storages_.big_endian || size_of(view.dtype) == 1);
  if (as_it_is) {
    const Tensor t = Tensor::from_blob(first, sorted, view.dtype, view.memory.owner, here);
    return std::ranges::is_sorted(order) ? t : t.permute(back);
  }
  const auto bytes = copied(view, what);
  return Tensor::from_blob(bytes->data(), view.sizes, view.dtype, bytes, here);
}

Tensor TensorMaker::make(const PickledObject& tensor, const std::string& name) {
  const std::string what = fmt::format("{}: tensor \"{}\"", path_, shortened(name));
  View view = view_of(tensor, what);
  const Shape whole = view.sizes;
  Tensor result;
  checked_product(std::span(whole.begin(), whole.end()));
  if (whole.numel() == 0) {
    result = Tensor::from_bytes({}, view.dtype, whole, {.dtype = {}, .device = options_.device});
  } else {
    std::int64_t last = view.offset;
    for (int i = 0; i < static_cast<int>(whole.size()); i++) {
      if (view.strides[i] == 0) view.sizes[i] = 1;
      last = checked_add(last, checked_mul(view.sizes[i] - 1, view.strides[i]));
    }
    const std::int64_t there = std::ssize(view.memory.bytes) / size_of(view.dtype);
    check(last < there, "{} reaches to element {} of a storage of {}", what, last, there);
    check(view.sizes.numel() <= there, "{}: a view with {} elements of a storage of {}", what,
          view.sizes.numel(), there);
    result = dense(view, what);
    if (view.sizes != whole) result = result.expand(whole);
  }
  return options_.dtype && is_float(view.dtype) ? result.cast(*options_.dtype) : result;
}

}  // namespace croze::pytorch
