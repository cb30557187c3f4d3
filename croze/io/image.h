// image.h -- pictures in files: PNG, JPEG, TIFF, WebP, JPEG 2000, BMP and PPM.
//
//     Tensor photo = load_image("photo.jpg");                        // UInt8 (H, W, C)
//     Tensor x = photo.permute({2, 0, 1}).cast(DType::Float32) / 255;  // as networks take it
//     save_image("copy.png", photo);
//
// PNG, JPEG, TIFF, WebP and JPEG 2000 need libpng, libjpeg, libtiff, libwebp and OpenJPEG when
// croze is built; BMP and PPM need nothing.  All are read; PNG, JPEG and PPM are written.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "croze/tensor/tensor.h"

namespace croze {

// A picture as UInt8 of shape (height, width, channels): 1 channel is grey, 2 grey and alpha, 3
// red, green and blue, 4 those and alpha.  What a file holds decides, not its name.  Samples of 16
// bits are scaled to 8, palettes are looked up; colour profiles and the orientation that cameras
// note are not applied.  Of several pictures in a TIFF the first is read.  The tensor stands on the
// default device unless `options` name one; a dtype named there is converted to, values staying 0
// to 255.
//
// Throws Error naming the file if it is of no format above (of PPM: P5 and P6), is damaged or cut
// short, has more than 2^27 pixels or more than its length justifies, or needs a library that croze
// was built without.
Tensor load_image(const std::string& path, const TensorOptions& options = {});

// The same of the bytes of a file that `name` stands for in errors.
Tensor decode_image(std::span<const std::byte> file, const std::string& name,
                    const TensorOptions& options = {});

struct ImageOptions {
  int jpeg_quality = 90;  // 1 to 100
};

// Writes UInt8 of shape (H, W, C) or (H, W), computed first if need be, in the format that the end
// of the name asks for: .png for 1 to 4 channels; .jpg, .jpeg, .ppm or .pgm for 1 or 3.
// The file appears whole or not at all.  Throws Error for another dtype or shape.
void save_image(const std::string& path, const Tensor& image, const ImageOptions& options = {});

}  // namespace croze
