// webp.cpp -- WebP through libwebp.
#include "croze/base/error.h"
#include "croze/io/image_codec.h"

#if CROZE_HAVE_WEBP
#include <webp/decode.h>
#endif

namespace croze {

#if CROZE_HAVE_WEBP

Picture read_webp(std::span<const std::byte> file, const std::string& path) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  check(WebPGetFeatures(bytes, file.size(), &features) == VP8_STATUS_OK, "{} is not a whole WebP",
        path);
  check(features.has_animation == 0, "{}: a WebP that moves, where one picture is read", path);
  Picture picture{.height = features.height,
                  .width = features.width,
                  .channels = features.has_alpha != 0 ? 4 : 3,
                  .samples = {}};
  check_size(picture.height, picture.width, path);
  const std::int64_t samples = picture.height * picture.width * picture.channels;
  check_unpacked(samples, file.size(), path);
  picture.samples.resize(static_cast<std::size_t>(samples));
  const auto decode = picture.channels == 4 ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  check(decode(bytes, file.size(), picture.samples.data(), picture.samples.size(),
               static_cast<int>(picture.row_bytes())) != nullptr,
        "{} is not a whole WebP", path);
  return picture;
}

#else

Picture read_webp(std::span<const std::byte>, const std::string& path) {
  fail({}, "{}: croze was built without libwebp", path);
}

#endif

}  // namespace croze
