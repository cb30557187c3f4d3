// jpeg.cpp -- JPEG through libjpeg.
//
// libjpeg reports errors through a function that must not return; ours jumps back to a mark
// (setjmp), which may not pass over C++ objects.  So each part of the work runs in guarded(), whose
// steps hold none.
#include "croze/base/error.h"
#include "croze/io/image_codec.h"

#if CROZE_HAVE_JPEG
#include <jpeglib.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#endif

namespace croze {

#if CROZE_HAVE_JPEG

namespace {

// A progressive file may say little in many passes over all pixels.
constexpr int max_scans = 200;
constexpr long max_working_memory = 512L << 20;

// Each square of 8 x 8 pixels takes one bit at the least.
constexpr std::int64_t max_pixels_of_byte = 8 * 64;

struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf mark;
  char message[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] void on_error(j_common_ptr session) {
  auto* errors = reinterpret_cast<ErrorManager*>(session->err);
  session->err->format_message(session, errors->message);
  std::longjmp(errors->mark, 1);
}

// libjpeg goes on after damage, with grey in place of what is lost; we do not.
void on_message(j_common_ptr session, int level) {
  if (level < 0) on_error(session);
}

void on_progress(j_common_ptr session) {
  if (reinterpret_cast<j_decompress_ptr>(session)->input_scan_number <= max_scans) return;
  auto* errors = reinterpret_cast<ErrorManager*>(session->err);
  std::snprintf(errors->message, sizeof(errors->message), "more than %d scans", max_scans);
  std::longjmp(errors->mark, 1);
}

// False if libjpeg reported an error in `step`, which must not hold objects with destructors.
template <typename Step>
bool guarded(ErrorManager& errors, Step step) {
  if (setjmp(errors.mark) != 0) return false;
  step();
  return true;
}

void set_handlers(ErrorManager& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = on_error;
  errors.base.emit_message = on_message;
}

struct Reader {
  ErrorManager errors;
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct session{};
  Reader() {
    set_handlers(errors);
    session.err = &errors.base;
  }
  ~Reader() { jpeg_destroy_decompress(&session); }
  Reader(const Reader&) = delete;
};

struct Writer {
  ErrorManager errors;
  jpeg_compress_struct session{};
  unsigned char* file = nullptr;
  unsigned long bytes = 0;
  Writer() {
    set_handlers(errors);
    session.err = &errors.base;
  }
  ~Writer() {
    jpeg_destroy_compress(&session);
    std::free(file);
  }
  Writer(const Writer&) = delete;
};

}  // namespace

Picture read_jpeg(std::span<const std::byte> file, const std::string& path) {
  Reader reader;
  jpeg_decompress_struct& session = reader.session;
  const auto check_step = [&](bool done) {
    check(done, "{} is not a whole JPEG: {}", path, reader.errors.message);
  };
  check_step(guarded(reader.errors, [&] {
    jpeg_create_decompress(&session);
    session.mem->max_memory_to_use = max_working_memory;
    reader.progress.progress_monitor = on_progress;
    session.progress = &reader.progress;
    jpeg_mem_src(&session, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&session, TRUE);
  }));
  Picture picture;
  picture.width = session.image_width;
  picture.height = session.image_height;
  check_size(picture.height, picture.width, path);
  check(picture.height * picture.width / max_pixels_of_byte <= std::ssize(file),
        "{}: {} bytes cannot hold {} x {} pixels", path, file.size(), picture.width,
        picture.height);
  picture.channels = session.num_components == 1 ? 1 : 3;
  session.out_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  check_step(guarded(reader.errors, [&] { jpeg_start_decompress(&session); }));
  // Row by row, so memory goes only to what the file has.
  for (std::int64_t y = 0; y < picture.height; y++) {
    picture.samples.resize(picture.samples.size() + picture.row_bytes());
    std::uint8_t* row = picture.row(y);
    check_step(guarded(reader.errors, [&] { jpeg_read_scanlines(&session, &row, 1); }));
  }
  check_step(guarded(reader.errors, [&] { jpeg_finish_decompress(&session); }));
  return picture;
}

std::vector<std::byte> write_jpeg(const Picture& picture, int quality, const std::string& path) {
  check(picture.channels == 1 || picture.channels == 3,
        "saving {}: {} channels, where JPEG has 1 or 3", path, picture.channels);
  Writer writer;
  jpeg_compress_struct& session = writer.session;
  const bool done = guarded(writer.errors, [&] {
    jpeg_create_compress(&session);
    jpeg_mem_dest(&session, &writer.file, &writer.bytes);
    session.image_width = static_cast<JDIMENSION>(picture.width);
    session.image_height = static_cast<JDIMENSION>(picture.height);
    session.input_components = static_cast<int>(picture.channels);
    session.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&session);
    jpeg_set_quality(&session, quality, TRUE);
    jpeg_start_compress(&session, TRUE);
    for (std::int64_t y = 0; y < picture.height; y++) {
      auto* row = const_cast<std::uint8_t*>(picture.row(y));
      jpeg_write_scanlines(&session, &row, 1);
    }
    jpeg_finish_compress(&session);
  });
  check(done, "saving {}: {}", path, writer.errors.message);
  const auto* begin = reinterpret_cast<const std::byte*>(writer.file);
  return {begin, begin + writer.bytes};
}

#else

Picture read_jpeg(std::span<const std::byte>, const std::string& path) {
  fail({}, "{}: croze was built without libjpeg", path);
}
std::vector<std::byte> write_jpeg(const Picture&, int, const std::string& path) {
  fail({}, "saving {}: croze was built without libjpeg", path);
}

#endif

}  // namespace croze
