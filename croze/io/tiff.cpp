// tiff.cpp -- TIFF through libtiff: the first picture of a file.
//
// What TIFF can hold is wide, and libtiff's conversion to red, green and blue takes most of it:
// palettes, YCbCr, CMYK, samples of 1 to 16 bits, strips and tiles.  But it multiplies colours by
// alpha, which cannot be undone, so pictures with alpha are read as they are stored, from strips.
#include "croze/base/error.h"
#include "croze/io/image_codec.h"

#if CROZE_HAVE_TIFF
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#endif

namespace croze {

#if CROZE_HAVE_TIFF

namespace {

// ---- a file in memory -------------------------------------------------------------------------

struct Session {
  std::span<const std::byte> file;
  std::uint64_t at = 0;
  char message[200] = "libtiff does not say why";
};

tmsize_t on_read(thandle_t handle, void* to, tmsize_t count) {
  auto* session = static_cast<Session*>(handle);
  if (session->at >= session->file.size() || count <= 0) return 0;
  const auto rest = session->file.subspan(session->at);
  const std::size_t bytes = std::min(rest.size(), static_cast<std::size_t>(count));
  std::memcpy(to, rest.data(), bytes);
  session->at += bytes;
  return static_cast<tmsize_t>(bytes);
}

tmsize_t on_write(thandle_t, void*, tmsize_t) { return 0; }

toff_t on_seek(thandle_t handle, toff_t offset, int from) {
  auto* session = static_cast<Session*>(handle);
  session->at = offset + (from == SEEK_CUR   ? session->at
                          : from == SEEK_END ? session->file.size()
                                             : 0);
  return session->at;
}

int on_close(thandle_t) { return 0; }

toff_t on_size(thandle_t handle) { return static_cast<Session*>(handle)->file.size(); }

// libtiff looks at most of a mapped file where it is, and writes nowhere.  (Without a map it
// refuses tiles without compression whose bytes are not a multiple of 1024.)
int on_map(thandle_t handle, void** begin, toff_t* bytes) {
  const std::span<const std::byte> file = static_cast<Session*>(handle)->file;
  *begin = const_cast<std::byte*>(file.data());
  *bytes = file.size();
  return 1;
}

void on_unmap(thandle_t, void*, toff_t) {}

int on_error(TIFF*, void* session, const char*, const char* format, va_list arguments) {
  char* message = static_cast<Session*>(session)->message;
  std::vsnprintf(message, sizeof(Session::message), format, arguments);
  return 1;  // said: libtiff need not print it
}

int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};
using Tiff = std::unique_ptr<TIFF, Close>;

Tiff open(Session& session) {
  const std::unique_ptr<TIFFOpenOptions, Close> options(TIFFOpenOptionsAlloc());
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most_unpacked(session.file.size()));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &session);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, &session);
  return Tiff(TIFFClientOpenExt("", "r", &session, on_read, on_write, on_seek, on_close, on_size,
                                on_map, on_unmap, options.get()));
}

// ---- what a file says of its picture ----------------------------------------------------------

struct Fields {
  std::uint32_t height = 0, width = 0;
  std::uint16_t bits = 1, samples = 1, colours = 0, planes = PLANARCONFIG_CONTIG;
  std::uint16_t compression = COMPRESSION_NONE, format = SAMPLEFORMAT_UINT;
  std::uint16_t alpha = EXTRASAMPLE_UNSPECIFIED;

  bool is_grey() const {
    return colours == PHOTOMETRIC_MINISBLACK || colours == PHOTOMETRIC_MINISWHITE;
  }
  bool has_alpha() const { return alpha != EXTRASAMPLE_UNSPECIFIED; }
  std::int64_t channels() const { return (is_grey() ? 1 : 3) + (has_alpha() ? 1 : 0); }
};

Fields fields_of(TIFF* tiff) {
  Fields f;
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &f.height);
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &f.width);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &f.colours);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &f.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &f.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &f.planes);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &f.compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &f.format);
  std::uint16_t extra = 0;
  std::uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extra, &kinds);
  if (extra > 0) f.alpha = kinds[0];
  return f;
}

// ---- pixels -----------------------------------------------------------------------------------

// Rows as they are stored, whatever the orientation: neither do other formats turn pictures.
void read_colours(TIFF* tiff, Picture& picture, Session& session, const std::string& path) {
  const auto pixels = static_cast<std::size_t>(picture.height * picture.width);
  std::vector<std::uint32_t> raster(pixels);
  TIFFRGBAImage image;
  char message[1024] = "";
  check(TIFFRGBAImageBegin(&image, tiff, 1, message) == 1, "{} is a TIFF that is not read: {}",
        path, message);
  image.req_orientation = image.orientation;
  const bool done = TIFFRGBAImageGet(&image, raster.data(), image.width, image.height) == 1;
  TIFFRGBAImageEnd(&image);
  check(done, "{} is not a whole TIFF: {}", path, session.message);
  std::uint8_t* to = picture.samples.data();
  for (const std::uint32_t pixel : raster) {
    *to++ = static_cast<std::uint8_t>(TIFFGetR(pixel));
    if (picture.channels == 1) continue;
    *to++ = static_cast<std::uint8_t>(TIFFGetG(pixel));
    *to++ = static_cast<std::uint8_t>(TIFFGetB(pixel));
  }
}

// Colours that were multiplied by alpha, which stands behind them, divided by it.
void divide_by_alpha(std::uint8_t* row, const Picture& picture) {
  const std::int64_t colours = picture.channels - 1;
  for (std::int64_t x = 0; x < picture.width; x++, row += picture.channels) {
    const int alpha = row[colours];
    for (std::int64_t c = 0; c < colours && alpha != 0; c++) {
      row[c] = static_cast<std::uint8_t>(std::min(255, (row[c] * 255 + alpha / 2) / alpha));
    }
  }
}

void read_with_alpha(TIFF* tiff, const Fields& f, Picture& picture, Session& session,
                     const std::string& path) {
  const bool has_order = f.colours == PHOTOMETRIC_MINISBLACK || f.colours == PHOTOMETRIC_RGB;
  check(has_order && f.samples == picture.channels && (f.bits == 8 || f.bits == 16) &&
            f.format == SAMPLEFORMAT_UINT && f.planes == PLANARCONFIG_CONTIG &&
            TIFFIsTiled(tiff) == 0,
        "{}: alpha of a TIFF is read beside grey or red, green and blue, in strips of 8 or 16 bits",
        path);
  const std::size_t samples = picture.row_bytes();
  std::vector<std::uint8_t> line(static_cast<std::size_t>(TIFFScanlineSize64(tiff)));
  ensure(line.size() >= samples * f.bits / 8, "{}: a row of {} bytes", path, line.size());
  for (std::int64_t y = 0; y < picture.height; y++) {
    check(TIFFReadScanline(tiff, line.data(), static_cast<std::uint32_t>(y), 0) == 1,
          "{} is not a whole TIFF: {}", path, session.message);
    std::uint8_t* row = picture.row(y);
    for (std::size_t i = 0; i < samples; i++) {
      if (f.bits == 8) {
        row[i] = line[i];
      } else {
        std::uint16_t wide;
        std::memcpy(&wide, line.data() + 2 * i, sizeof(wide));
        row[i] = static_cast<std::uint8_t>((wide * 255U + 32767) / 65535);
      }
    }
    if (f.alpha == EXTRASAMPLE_ASSOCALPHA) divide_by_alpha(row, picture);
  }
}

}  // namespace

Picture read_tiff(std::span<const std::byte> file, const std::string& path) {
  Session session{.file = file};
  const Tiff tiff = open(session);
  check(tiff != nullptr, "{} is not a whole TIFF: {}", path, session.message);
  const Fields f = fields_of(tiff.get());
  check_size(f.height, f.width, path);
  // The JPEG of TIFF's version 6 was withdrawn: what its fields mean has to be guessed.
  check(f.compression != COMPRESSION_OJPEG, "{}: a TIFF with JPEG in the old style", path);
  Picture picture{.height = f.height, .width = f.width, .channels = f.channels(), .samples = {}};
  const std::int64_t samples = picture.height * picture.width * picture.channels;
  check_unpacked(samples, file.size(), path);
  picture.samples.resize(static_cast<std::size_t>(samples));
  if (f.has_alpha()) {
    read_with_alpha(tiff.get(), f, picture, session, path);
  } else {
    read_colours(tiff.get(), picture, session, path);
  }
  return picture;
}

#else

Picture read_tiff(std::span<const std::byte>, const std::string& path) {
  fail({}, "{}: croze was built without libtiff", path);
}

#endif

}  // namespace croze
