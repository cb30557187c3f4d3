// bmp.cpp -- BMP, the bitmaps of Windows and OS/2; it needs no library.
//
// A file is a header of 14 bytes, one of 12 to 124 that describes the picture, masks or a palette,
// and rows of pixels, each padded to 4 bytes, the lowest first unless the height is negative.
// Pixels of up to 8 bits are places in the palette, and may be packed as runs; larger ones hold
// their samples under masks.
//
// Source: "Bitmap Storage" and "Bitmap Compression" in the documentation of Windows.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "croze/base/bytes.h"
#include "croze/base/error.h"
#include "croze/io/image_codec.h"

namespace croze {
namespace {

enum Packing : std::uint32_t { Plain = 0, Runs8 = 1, Runs4 = 2, Masked = 3, MaskedWithAlpha = 6 };

using Colour = std::array<std::uint8_t, 3>;  // red, green, blue

struct Header {
  std::int64_t height = 0, width = 0;
  bool from_the_top = false;
  int bits = 0;  // of a pixel
  std::uint32_t packing = Plain;
  std::array<std::uint32_t, 4> masks{};  // of red, green, blue and alpha
  std::vector<Colour> palette;
  std::int64_t pixels_at = 0;

  bool is_packed() const { return packing == Runs8 || packing == Runs4; }
  std::int64_t row_of(std::int64_t y) const { return from_the_top ? y : height - 1 - y; }
};

// ---- the header -------------------------------------------------------------------------------

bool is_known(std::uint32_t packing, int bits) {
  switch (packing) {
    case Plain:
      return bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
    case Runs8: return bits == 8;
    case Runs4: return bits == 4;
    case Masked:
    case MaskedWithAlpha: return bits == 16 || bits == 32;
    default: return false;
  }
}

// Where no masks are written.  The fourth byte of 32 bits means nothing then.
std::array<std::uint32_t, 4> usual_masks(int bits) {
  if (bits == 16) return {0x7c00, 0x03e0, 0x001f, 0};
  return {0xff0000, 0x00ff00, 0x0000ff, 0};
}

std::array<std::uint32_t, 4> read_masks(ByteReader& in, bool has_alpha, const std::string& path) {
  std::array<std::uint32_t, 4> masks{};
  for (std::size_t i = 0; i < (has_alpha ? 4 : 3); i++) {
    masks[i] = in.read<std::uint32_t>();
    if (masks[i] == 0) continue;
    const std::uint32_t run = masks[i] >> std::countr_zero(masks[i]);
    check((run & (run + 1)) == 0, "{}: the bits of the mask {:#x} do not stand together", path,
          masks[i]);
  }
  return masks;
}

std::vector<Colour> read_palette(ByteReader& in, std::int64_t colours, bool has_spare_byte) {
  std::vector<Colour> palette;
  for (std::int64_t i = 0; i < colours; i++) {
    const auto blue = in.read<std::uint8_t>();
    const auto green = in.read<std::uint8_t>();
    palette.push_back({in.read<std::uint8_t>(), green, blue});
    if (has_spare_byte) in.skip(1);
  }
  return palette;
}

// The header of OS/2 has sizes of 16 bits and no packing.
std::int64_t read_sizes(ByteReader& in, Header& h, bool is_small) {
  if (is_small) {
    h.width = in.read<std::uint16_t>();
    h.height = in.read<std::uint16_t>();
  } else {
    h.width = in.read<std::int32_t>();
    h.height = in.read<std::int32_t>();
    h.from_the_top = h.height < 0;
    h.height = std::abs(h.height);
  }
  in.skip(2);  // planes
  h.bits = in.read<std::uint16_t>();
  if (is_small) return 0;
  h.packing = in.read<std::uint32_t>();
  in.skip(12);  // bytes of pixels, pixels a meter across and down
  return in.read<std::uint32_t>();
}

Header read_header(ByteReader& in, const std::string& path) {
  constexpr std::int64_t small = 12, usual = 40, with_masks = 52, with_alpha = 56;
  constexpr std::array header_sizes{
      small, usual, with_masks, with_alpha, std::int64_t{64}, std::int64_t{108}, std::int64_t{124}};
  Header h;
  in.skip(10);  // "BM", bytes of the file, nothing
  h.pixels_at = in.read<std::uint32_t>();
  const std::int64_t begin = in.offset(), bytes = in.read<std::uint32_t>();
  check(std::ranges::find(header_sizes, bytes) != header_sizes.end(),
        "{}: no header of BMP has {} bytes", path, bytes);
  std::int64_t colours = read_sizes(in, h, bytes == small);
  check_size(h.height, h.width, path);
  check(is_known(h.packing, h.bits), "{}: a BMP of {} bits a pixel and compression {}", path,
        h.bits, h.packing);
  check(!(h.is_packed() && h.from_the_top), "{}: runs of a BMP begin at the lowest row", path);
  h.masks = usual_masks(h.bits);
  if (h.packing == Masked || h.packing == MaskedWithAlpha) {
    in.seek(begin + usual);  // behind the header, or where longer ones have them
    h.masks = read_masks(in, h.packing == MaskedWithAlpha || bytes >= with_alpha, path);
  }
  if (h.bits > 8) return h;
  const std::int64_t most = std::int64_t{1} << h.bits;
  if (colours == 0) colours = most;
  check(colours <= most, "{}: a palette of {} colours for pixels of {} bits", path, colours,
        h.bits);
  in.seek(begin + bytes);
  h.palette = read_palette(in, colours, bytes != small);
  return h;
}

// ---- pixels of a palette ----------------------------------------------------------------------

std::int64_t row_bytes(const Header& h) { return (h.width * h.bits + 31) / 32 * 4; }

// The places of all pixels in the palette, from the top.
std::vector<std::uint8_t> read_places(ByteReader& in, const Header& h) {
  std::vector<std::uint8_t> places(static_cast<std::size_t>(h.height * h.width));
  const std::span rows = in.elements(h.height, row_bytes(h));
  const int per_byte = 8 / h.bits;
  for (std::int64_t y = 0; y < h.height; y++) {
    const std::span row = rows.subspan(static_cast<std::size_t>(y * row_bytes(h)));
    std::uint8_t* to = places.data() + h.row_of(y) * h.width;
    for (std::int64_t x = 0; x < h.width; x++) {
      const auto byte = static_cast<unsigned>(row[static_cast<std::size_t>(x / per_byte)]);
      const auto shift = static_cast<unsigned>(h.bits * (per_byte - 1 - x % per_byte));
      to[x] = static_cast<std::uint8_t>((byte >> shift) & ((1U << h.bits) - 1));
    }
  }
  return places;
}

// Pairs of a count and what is repeated; a count of 0 makes the second byte a command.  What is
// passed over keeps the place 0.
class Runs {
 public:
  Runs(ByteReader& in, const Header& h, const std::string& path) : in_(in), h_(h), path_(path) {}

  std::vector<std::uint8_t> unpacked() {
    constexpr int end_of_row = 0, end = 1, move = 2;
    while (true) {
      const int count = in_.read<std::uint8_t>(), value = in_.read<std::uint8_t>();
      if (count > 0) {
        for (int i = 0; i < count; i++) put(half(value, i));
      } else if (value == end_of_row) {
        x_ = 0;
        y_++;
      } else if (value == end) {
        return std::move(places_);
      } else if (value == move) {
        x_ += in_.read<std::uint8_t>();
        y_ += in_.read<std::uint8_t>();
      } else {
        put_plain(value);
      }
    }
  }

 private:
  // Pixels of 4 bits come by twos, and a run repeats both.
  int half(int value, int i) const {
    if (h_.packing == Runs8) return value;
    return i % 2 == 0 ? value >> 4 : value & 15;
  }

  void put(int place) {
    check(x_ < h_.width && y_ < h_.height, "{}: a run leaves the picture of {} x {} pixels", path_,
          h_.width, h_.height);
    places_[static_cast<std::size_t>(h_.row_of(y_) * h_.width + x_++)] =
        static_cast<std::uint8_t>(place);
  }

  // `count` pixels that do not repeat, in an even number of bytes.
  void put_plain(int count) {
    const int bytes = h_.packing == Runs8 ? count : (count + 1) / 2;
    const std::span plain = in_.bytes(bytes);
    for (int i = 0; i < count; i++) {
      const auto at = static_cast<std::size_t>(h_.packing == Runs8 ? i : i / 2);
      put(half(static_cast<int>(plain[at]), i));
    }
    in_.skip(bytes % 2);
  }

  ByteReader& in_;
  const Header& h_;
  const std::string& path_;
  std::int64_t x_ = 0, y_ = 0;
  std::vector<std::uint8_t> places_ =
      std::vector<std::uint8_t>(static_cast<std::size_t>(h_.height * h_.width));
};

void look_up(const std::vector<std::uint8_t>& places, const Header& h, Picture& picture,
             const std::string& path) {
  std::uint8_t* to = picture.samples.data();
  for (const std::uint8_t place : places) {
    check(place < h.palette.size(), "{}: a pixel of colour {}, where the palette has {}", path,
          place, h.palette.size());
    to = std::ranges::copy(h.palette[place], to).out;
  }
}

// ---- pixels of samples ------------------------------------------------------------------------

// What stands under a mask, as 0 to 255.
struct Field {
  std::uint32_t mask = 0;
  int shift = 0;
  std::uint32_t largest = 0;

  std::uint8_t sample(std::uint32_t pixel) const {
    const std::uint64_t value = (pixel & mask) >> shift;
    if (largest == 255 || largest == 0) return static_cast<std::uint8_t>(value);
    return static_cast<std::uint8_t>((value * 255 + largest / 2) / largest);
  }
};

Field field_of(std::uint32_t mask) {
  if (mask == 0) return {};
  const int shift = std::countr_zero(mask);
  return {mask, shift, mask >> shift};
}

void read_samples(ByteReader& in, const Header& h, Picture& picture) {
  std::vector<Field> fields;
  for (std::int64_t c = 0; c < picture.channels; c++) {
    fields.push_back(field_of(h.masks[static_cast<std::size_t>(c)]));
  }
  const std::span rows = in.elements(h.height, row_bytes(h));
  const auto pixel_bytes = static_cast<std::size_t>(h.bits / 8);
  for (std::int64_t y = 0; y < h.height; y++) {
    const std::byte* from = rows.data() + y * row_bytes(h);
    std::uint8_t* to = picture.row(h.row_of(y));
    for (std::int64_t x = 0; x < h.width; x++, from += pixel_bytes) {
      std::uint32_t pixel = 0;
      for (std::size_t i = 0; i < pixel_bytes; i++) {
        pixel |= static_cast<std::uint32_t>(from[i]) << (8 * i);
      }
      for (const Field& field : fields) *to++ = field.sample(pixel);
    }
  }
}

}  // namespace

Picture read_bmp(std::span<const std::byte> file, const std::string& path) {
  ByteReader in(file, path);
  const Header h = read_header(in, path);
  in.seek(h.pixels_at);
  const bool has_palette = h.bits <= 8;
  Picture picture{.height = h.height, .width = h.width, .channels = h.masks[3] != 0 ? 4 : 3};
  if (h.is_packed()) {
    check_unpacked(h.height * h.width, file.size(), path);
  } else {
    check(in.remaining() >= h.height * row_bytes(h),
          "{} is not a whole BMP: {} bytes of pixels were expected, {} are there", path,
          h.height * row_bytes(h), in.remaining());
  }
  picture.samples.resize(static_cast<std::size_t>(h.height) * picture.row_bytes());
  if (!has_palette) {
    read_samples(in, h, picture);
  } else {
    look_up(h.is_packed() ? Runs(in, h, path).unpacked() : read_places(in, h), h, picture, path);
  }
  return picture;
}

}  // namespace croze
