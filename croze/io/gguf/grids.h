// grids.h -- the grids of the IQ types: lists of points, four or eight elements each, of which an
// index chooses one.  They were found by searching, so they are tables.
//
// A point is 16 bits, the first element in the lowest ones: eight times 2 bits or four times 4,
// each a level; which number a level is, the types say.
#pragma once

#include <array>
#include <cstdint>

namespace croze::gguf {

extern const std::array<std::uint16_t, 2048> iq1_grid;
extern const std::array<std::uint16_t, 256> iq2_xxs_grid;
extern const std::array<std::uint16_t, 512> iq2_xs_grid;
extern const std::array<std::uint16_t, 1024> iq2_s_grid;
extern const std::array<std::uint16_t, 256> iq3_xxs_grid;
extern const std::array<std::uint16_t, 512> iq3_s_grid;

}  // namespace croze::gguf
