// jpeg2000.cpp -- JPEG 2000 through OpenJPEG: a codestream alone, or in the boxes of a JP2 file.
//
// OpenJPEG allocates for each component of each tile that a header promises, which may be 2^30 in a
// hundred bytes.  So the sizes are read here first and held against the length of the file.
//
// Source: ISO/IEC 15444-1, annexes A (codestream) and I (boxes).
#include "croze/base/bytes.h"
#include "croze/base/error.h"
#include "croze/io/image_codec.h"

#if CROZE_HAVE_JPEG2000
#include <openjpeg.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#endif

namespace croze {

#if CROZE_HAVE_JPEG2000

namespace {

// ---- sizes ------------------------------------------------------------------------------------

constexpr std::string_view start_and_sizes = "\xff\x4f\xff\x51";  // its first two markers
constexpr std::int64_t least_of_tile = 14;                        // bytes: two more markers

// Moves to the codestream that a JP2 file has in one of its boxes.
void find_codestream(ByteReader& in) {
  constexpr std::uint32_t codestream = 0x6a703263;  // "jp2c"
  while (true) {
    std::int64_t bytes = in.read_big_endian<std::uint32_t>(), header = 8;
    const auto kind = in.read_big_endian<std::uint32_t>();
    if (bytes == 1) {
      bytes = in.read_big_endian<std::int64_t>();
      header = 16;
    }
    if (kind == codestream) return;
    if (bytes < header) in.fail_here("a box without an end before the codestream");
    in.skip(bytes - header);
  }
}

std::int64_t tiles_along(std::int64_t end, std::int64_t begin, std::int64_t step) {
  return (end - begin + step - 1) / step;
}

// The number of tiles, from the first segment of the codestream.
std::int64_t read_sizes(ByteReader& in, std::size_t file_bytes, const std::string& path) {
  const auto next = [&]() -> std::int64_t { return in.read_big_endian<std::uint32_t>(); };
  check(in.text(4) == start_and_sizes, "{}: a JPEG 2000 without sizes", path);
  in.skip(4);  // length of the segment, capabilities
  const std::int64_t right = next(), bottom = next(), left = next(), top = next();
  const std::int64_t tile_width = next(), tile_height = next();
  const std::int64_t tiles_left = next(), tiles_top = next();
  const int components = in.read_big_endian<std::uint16_t>();
  check_size(bottom - top, right - left, path);
  check(components >= 1 && components <= 4,
        "{}: a JPEG 2000 of {} components, where 1 to 4 are read", path, components);
  check(tile_width > 0 && tile_height > 0 && tiles_left <= left && tiles_top <= top,
        "{}: a JPEG 2000 in tiles of {} x {}", path, tile_width, tile_height);
  const std::int64_t across = tiles_along(right, tiles_left, tile_width);
  const std::int64_t down = tiles_along(bottom, tiles_top, tile_height);
  const auto most = static_cast<std::int64_t>(file_bytes) / least_of_tile;
  check(across <= most && down <= most / across, "{}: {} bytes cannot hold {} x {} tiles", path,
        file_bytes, across, down);
  for (int i = 0; i < components; i++) {
    in.skip(1);  // bits
    const int step_x = in.read<std::uint8_t>(), step_y = in.read<std::uint8_t>();
    check(step_x == 1 && step_y == 1, "{}: a JPEG 2000 whose components differ in size", path);
  }
  check_unpacked((bottom - top) * (right - left) * components, file_bytes, path);
  return across * down;
}

// Goes over all segments to the end of the codestream.  OpenJPEG would leave tiles that are missing
// black, and not call that an error.
void check_tiles(ByteReader& in, std::int64_t num_tiles, const std::string& path) {
  constexpr int start_of_tile = 0xff90, end = 0xffd9;
  std::vector<bool> has_come(static_cast<std::size_t>(num_tiles));
  while (true) {
    const std::int64_t begin = in.offset();
    const int marker = in.read_big_endian<std::uint16_t>();
    if (marker == end) break;
    const int length = in.read_big_endian<std::uint16_t>();
    if (marker != start_of_tile) {
      in.skip(length - 2);
      continue;
    }
    const int tile = in.read_big_endian<std::uint16_t>();
    const std::int64_t bytes = in.read_big_endian<std::uint32_t>();
    check(tile < num_tiles, "{}: a JPEG 2000 with tile {} of {}", path, tile, num_tiles);
    has_come[static_cast<std::size_t>(tile)] = true;
    if (bytes == 0) break;  // the last: it takes the rest
    check(bytes >= least_of_tile, "{}: a JPEG 2000 with a tile of {} bytes", path, bytes);
    in.seek(begin);
    in.skip(bytes);
  }
  const auto missing = std::ranges::count(has_come, false);
  check(missing == 0, "{} is not a whole JPEG 2000: {} tiles are missing", path, missing);
}

// ---- decoding ---------------------------------------------------------------------------------

struct Session {
  std::span<const std::byte> file;
  std::size_t at = 0;
  std::string message;
};

OPJ_SIZE_T on_read(void* to, OPJ_SIZE_T count, void* user) {
  auto* session = static_cast<Session*>(user);
  const std::size_t bytes = std::min<std::size_t>(count, session->file.size() - session->at);
  if (bytes == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, session->file.data() + session->at, bytes);
  session->at += bytes;
  return bytes;
}

OPJ_OFF_T on_skip(OPJ_OFF_T count, void* user) {
  auto* session = static_cast<Session*>(user);
  const auto rest = static_cast<OPJ_OFF_T>(session->file.size() - session->at);
  if (count < 0 || rest == 0) return -1;
  const OPJ_OFF_T bytes = std::min(count, rest);
  session->at += static_cast<std::size_t>(bytes);
  return bytes;
}

OPJ_BOOL on_seek(OPJ_OFF_T to, void* user) {
  auto* session = static_cast<Session*>(user);
  if (to < 0 || static_cast<std::size_t>(to) > session->file.size()) return OPJ_FALSE;
  session->at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}

// The first message is the cause, the others follow from it.
void on_error(const char* text, void* user) {
  std::string& message = static_cast<Session*>(user)->message;
  if (!message.empty()) return;
  message = text;
  while (message.ends_with('\n') || message.ends_with('.')) message.pop_back();
}

// A stream and a codec are the same type to C++.
template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* owned) const {
    destroy(owned);
  }
};
using Stream = std::unique_ptr<opj_stream_t, Destroy<opj_stream_destroy>>;
using Codec = std::unique_ptr<opj_codec_t, Destroy<opj_destroy_codec>>;
using Image = std::unique_ptr<opj_image_t, Destroy<opj_image_destroy>>;

Image decoded(Session& session, OPJ_CODEC_FORMAT format, const std::string& path) {
  const Codec codec(opj_create_decompress(format));
  const Stream stream(opj_stream_create(OPJ_J2K_STREAM_CHUNK_SIZE, OPJ_TRUE));
  ensure(codec != nullptr && stream != nullptr, "OpenJPEG could not be started");
  opj_stream_set_user_data(stream.get(), &session, nullptr);
  opj_stream_set_user_data_length(stream.get(), session.file.size());
  opj_stream_set_read_function(stream.get(), on_read);
  opj_stream_set_skip_function(stream.get(), on_skip);
  opj_stream_set_seek_function(stream.get(), on_seek);
  opj_set_error_handler(codec.get(), on_error, &session);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* header = nullptr;
  bool done = opj_setup_decoder(codec.get(), &parameters) == OPJ_TRUE &&
              opj_read_header(stream.get(), codec.get(), &header) == OPJ_TRUE;
  Image image(header);
  done = done && opj_decode(codec.get(), stream.get(), image.get()) == OPJ_TRUE &&
         opj_end_decompress(codec.get(), stream.get()) == OPJ_TRUE;
  check(done, "{} is not a whole JPEG 2000: {}", path, session.message);
  return image;
}

// ---- samples ----------------------------------------------------------------------------------

// A component's samples, of up to 38 bits with or without sign, as 0 to 255.
void take_component(const opj_image_comp_t& from, std::int64_t channel, Picture& picture) {
  const std::int64_t largest = (std::int64_t{1} << from.prec) - 1;
  const std::int64_t lowest = from.sgnd != 0 ? -(largest + 1) / 2 : 0;
  const std::int64_t pixels = picture.height * picture.width;
  for (std::int64_t i = 0; i < pixels; i++) {
    const std::int64_t value = std::clamp<std::int64_t>(from.data[i] - lowest, 0, largest);
    picture.samples[static_cast<std::size_t>(i * picture.channels + channel)] =
        static_cast<std::uint8_t>((value * 255 + largest / 2) / largest);
  }
}

Picture picture_of(const opj_image_t& image, const std::string& path) {
  check(image.numcomps >= 1 && image.numcomps <= 4,
        "{}: a JPEG 2000 of {} components, where 1 to 4 are read", path, image.numcomps);
  check(image.color_space <= OPJ_CLRSPC_GRAY,
        "{}: a JPEG 2000 in colours other than grey and red, green and blue", path);
  const std::span components(image.comps, image.numcomps);
  Picture picture{.height = components[0].h,
                  .width = components[0].w,
                  .channels = static_cast<std::int64_t>(components.size()),
                  .samples = {}};
  check_size(picture.height, picture.width, path);
  picture.samples.resize(static_cast<std::size_t>(picture.height) * picture.row_bytes());
  for (std::size_t c = 0; c < components.size(); c++) {
    const opj_image_comp_t& component = components[c];
    check(component.w == components[0].w && component.h == components[0].h && component.prec >= 1 &&
              component.prec <= 38 && component.data != nullptr,
          "{}: a JPEG 2000 whose components differ in size", path);
    take_component(component, static_cast<std::int64_t>(c), picture);
  }
  return picture;
}

}  // namespace

Picture read_jpeg2000(std::span<const std::byte> file, const std::string& path) {
  ByteReader in(file, path);
  const bool is_alone = as_text(file).starts_with(start_and_sizes);
  if (!is_alone) find_codestream(in);
  check_tiles(in, read_sizes(in, file.size(), path), path);
  Session session{.file = file};
  return picture_of(*decoded(session, is_alone ? OPJ_CODEC_J2K : OPJ_CODEC_JP2, path), path);
}

#else

Picture read_jpeg2000(std::span<const std::byte>, const std::string& path) {
  fail({}, "{}: croze was built without OpenJPEG", path);
}

#endif

}  // namespace croze
