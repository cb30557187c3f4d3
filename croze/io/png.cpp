// png.cpp -- PNG through libpng.
//
// libpng reports errors by jumping back to a mark (setjmp), which may not pass over C++ objects. So
// each part of the work runs in guarded(), whose steps hold none.
#include "croze/base/error.h"
#include "croze/io/image_codec.h"

#if CROZE_HAVE_PNG
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#endif

namespace croze {

#if CROZE_HAVE_PNG

namespace {

// What libpng is told of us: the bytes that it reads or writes, and what it said last.
struct Session {
  std::span<const std::byte> rest;
  std::vector<std::byte> written;
  char message[100] = "";
};

void on_error(png_structp png, png_const_charp text) {
  auto* session = static_cast<Session*>(png_get_error_ptr(png));
  std::strncpy(session->message, text, sizeof(session->message) - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, std::size_t count) {
  auto* session = static_cast<Session*>(png_get_io_ptr(png));
  if (count > session->rest.size()) png_error(png, "it ends early");
  std::memcpy(to, session->rest.data(), count);
  session->rest = session->rest.subspan(count);
}

void on_write(png_structp png, png_bytep from, std::size_t count) {
  auto* session = static_cast<Session*>(png_get_io_ptr(png));
  const auto* begin = reinterpret_cast<const std::byte*>(from);
  session->written.insert(session->written.end(), begin, begin + count);
}

// False if libpng reported an error in `step`, which must not hold objects with destructors.
template <typename Step>
bool guarded(png_structp png, Step step) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  step();
  return true;
}

struct Reader {
  Session session;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session, on_error, on_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  Reader() { ensure(info != nullptr, "libpng could not be started"); }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
};

struct Writer {
  Session session;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &session, on_error, on_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  Writer() { ensure(info != nullptr, "libpng could not be started"); }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
};

// Whatever is in the file comes as samples of 8 bits, 1 to 4 a pixel.
void ask_for_bytes(png_structp png, png_infop info) {
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

}  // namespace

Picture read_png(std::span<const std::byte> file, const std::string& path) {
  constexpr std::int64_t max_ratio = 1032;  // of deflate
  Reader reader;
  const png_structp png = reader.png;
  const png_infop info = reader.info;
  Session& session = reader.session;
  session.rest = file;
  const auto check_step = [&](bool done) {
    check(done, "{} is not a whole PNG: {}", path, session.message);
  };
  check_step(guarded(png, [&] {
    png_set_read_fn(png, &session, on_read);
    png_read_info(png, info);
  }));
  Picture picture;
  picture.width = png_get_image_width(png, info);
  picture.height = png_get_image_height(png, info);
  check_size(picture.height, picture.width, path);
  check(static_cast<std::int64_t>(png_get_rowbytes(png, info)) * picture.height / max_ratio <=
            std::ssize(file),
        "{}: {} bytes cannot unpack to {} x {} pixels", path, file.size(), picture.width,
        picture.height);
  check_step(guarded(png, [&] { ask_for_bytes(png, info); }));
  picture.channels = png_get_channels(png, info);
  ensure(png_get_rowbytes(png, info) == picture.row_bytes(), "{}: samples of other than 8 bits",
         path);
  picture.samples.resize(static_cast<std::size_t>(picture.height) * picture.row_bytes());
  std::vector<png_bytep> rows;
  for (std::int64_t y = 0; y < picture.height; y++) rows.push_back(picture.row(y));
  check_step(guarded(png, [&] {
    png_read_image(png, rows.data());
    png_read_end(png, nullptr);
  }));
  return picture;
}

std::vector<std::byte> write_png(const Picture& picture, const std::string& path) {
  constexpr int colours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
  Writer writer;
  const png_structp png = writer.png;
  const png_infop info = writer.info;
  std::vector<png_const_bytep> rows;
  for (std::int64_t y = 0; y < picture.height; y++) rows.push_back(picture.row(y));
  const bool done = guarded(png, [&] {
    png_set_write_fn(png, &writer.session, on_write, nullptr);
    png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width),
                 static_cast<png_uint_32>(picture.height), 8, colours[picture.channels - 1],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_write_image(png, const_cast<png_bytepp>(rows.data()));
    png_write_end(png, nullptr);
  });
  check(done, "saving {}: {}", path, writer.session.message);
  return std::move(writer.session.written);
}

#else

Picture read_png(std::span<const std::byte>, const std::string& path) {
  fail({}, "{}: croze was built without libpng", path);
}
std::vector<std::byte> write_png(const Picture&, const std::string& path) {
  fail({}, "saving {}: croze was built without libpng", path);
}

#endif

}  // namespace croze
