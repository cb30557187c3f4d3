#include "croze/backends/ptx_interp/boxes.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/render/program.h"

namespace croze::ptx_interp {
namespace {

constexpr std::int64_t piece_bytes = 16, row_bytes = 128;

// The element at a place of the box, or zeros; false: it is outside of the buffer.
bool fetch(const TensorMap& map, std::int64_t number, std::span<const std::int64_t> coordinates,
           std::byte* to) {
  const BoxedBuffer& b = map.box;
  const std::int64_t element = size_of(b.dtype);
  std::int64_t index = 0;
  bool is_inside = true;
  for (std::size_t i = 0; i < b.box.size(); i++) {
    const std::int64_t c = coordinates[i] + number % b.box[i],
                       size = b.sizes[i] + (i == 0 ? map.shift : 0);
    is_inside = is_inside && c >= 0 && c < size;
    index += c * b.strides[i];
    number /= b.box[i];
  }
  const std::int64_t at = (index - map.shift) * element;
  std::fill_n(to, element, std::byte{0});
  if (!is_inside) return true;
  if (at < 0 || at + element > map.bytes) return false;
  std::copy_n(map.memory + at, element, to);
  return true;
}

}  // namespace

bool BoxCopies::is_idle() const {
  return std::ranges::all_of(barriers_,
                             [](const auto& entry) { return entry.second.pieces.empty(); });
}

std::string BoxCopies::init(std::int32_t item, std::int64_t barrier, std::int64_t arrivals) {
  if (barriers_.contains(barrier)) return "the barrier is there already";
  barriers_[barrier] = {
      .arrivals = arrivals, .pending = arrivals, .made_by = item, .made_in = shared_.phase()};
  return {};
}

void BoxCopies::show_inits(std::int32_t item) {
  for (auto& [place, b] : barriers_) b.is_shown = b.is_shown || b.made_by == item;
}

BoxCopies::Barrier* BoxCopies::going_on(std::int64_t barrier, std::string& wrong) {
  const auto found = barriers_.find(barrier);
  if (found == barriers_.end()) {
    wrong = "there is no barrier at this place";
  } else if (found->second.pending == 0) {
    wrong = "the phase of the barrier may be over";
  } else {
    return &found->second;
  }
  return nullptr;
}

std::string BoxCopies::expect(std::int64_t barrier, std::int64_t bytes) {
  std::string wrong;
  if (Barrier* const b = going_on(barrier, wrong)) b->expected += bytes;
  return wrong;
}

std::string BoxCopies::arrive(std::int64_t barrier) {
  std::string wrong;
  if (Barrier* const b = going_on(barrier, wrong)) b->pending--;
  return wrong;
}

std::string BoxCopies::begin(std::int32_t item, std::int64_t barrier, std::int64_t to,
                             const TensorMap& map, std::span<const std::int64_t> coordinates) {
  std::string wrong;
  Barrier* const b = going_on(barrier, wrong);
  if (!b) return wrong;
  if (!b->is_shown) return "no fence has shown that the barrier is ready";
  if (coordinates.size() != map.box.box.size())
    return fmt::format("{} coordinates in a buffer of {} axes", coordinates.size(),
                       map.box.box.size());
  const std::int64_t bytes = bytes_of(map.box), element = size_of(map.box.dtype);
  for (std::int64_t at = 0; at < bytes; at += piece_bytes) {
    const std::int64_t place = to + at;
    Piece piece{item, place ^ (place / row_bytes % 8 * piece_bytes),
                std::vector<std::byte>(piece_bytes)};
    for (std::int64_t k = 0; k < piece_bytes; k += element) {
      if (!fetch(map, (at + k) / element, coordinates, piece.values.data() + k))
        return fmt::format("a box reads beyond buffer {}", map.box.slot);
    }
    wrong = shared_.begin(item, piece.offset, piece.values, true);
    if (!wrong.empty()) return wrong;
    b->pieces.push_back(std::move(piece));
  }
  b->coming += bytes;
  return {};
}

std::string BoxCopies::await(std::int32_t item, std::int64_t barrier, bool is_odd, bool& is_over) {
  const auto found = barriers_.find(barrier);
  if (found == barriers_.end()) return "there is no barrier at this place";
  Barrier& b = found->second;
  if (b.made_by != item && b.made_in == shared_.phase())
    return "race: the barrier was made ready since all have met";
  is_over = true;
  if (b.is_odd != is_odd) return {};
  if (b.pending > 0) return "a phase is awaited in which nobody has arrived";
  if (b.expected != b.coming)
    return fmt::format("{} bytes are awaited, of which {} come", b.expected, b.coming);
  for (const Piece& p : b.pieces) shared_.land(p.item, p.offset, p.values, true);
  b.pieces.clear();
  b.expected = b.coming = 0;
  b.pending = b.arrivals;
  b.is_odd = !b.is_odd;
  return {};
}

}  // namespace croze::ptx_interp
