// matrix_unit.cpp -- the units of processors, and what a unit computes.
//
// Intel's manual has the dot products (VPDPBUSD, VDPBF16PS, and VPMADDUBSW and VPMADDWD, which make
// one of AVX2) and the tiles (TDPBSSD, TDPBSUD, TDPBF16PS), the manuals of AMD's instruction sets
// CDNA 3 and 4 the MFMA and those of RDNA 3 and 4 the WMMA of its graphics processors, NVIDIA's of
// PTX mma.sync.
#include "croze/graph/matrix_unit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/graph/cooperative_units.h"
#include "croze/graph/eval.h"
#include "croze/graph/warpgroup_units.h"

namespace croze {
namespace {

constexpr DType u8 = DType::UInt8, s8 = DType::Int8, s16 = DType::Int16, s32 = DType::Int32;
constexpr DType e4m3 = DType::Float8E4M3, e5m2 = DType::Float8E5M2;
constexpr DType f16 = DType::Float16, bf16 = DType::BFloat16, f32 = DType::Float32,
                f64 = DType::Float64;

constexpr std::string_view pmadd_words = "x86.avx2.pmadd.wd";

// Of one row: a is the same for all columns, and b has the terms of a column side by side.
constexpr MatrixUnit dot_of_bytes(std::string_view name, std::int64_t columns, DType a, DType b,
                                  std::string_view extension, std::string_view intrinsic) {
  const bool is_full = columns == 16;
  return {.name = name,
          .rows = 1,
          .columns = columns,
          .depth = 4,
          .a = a,
          .b = b,
          .accumulator = s32,
          .places_of_a = is_full ? "k0 k1 - - - -" : "k0 k1 - - -",
          .places_of_b = is_full ? "k0 k1 n0 n1 n2 n3" : "k0 k1 n0 n1 n2",
          .places_of_sums = is_full ? "n0 n1 n2 n3" : "n0 n1 n2",
          .extension = extension,
          .intrinsic = intrinsic};
}

// Both operands differ from column to column, which is what the instructions do by themselves.
constexpr MatrixUnit dots_of_columns(std::string_view name, std::string_view extension,
                                     std::string_view intrinsic) {
  MatrixUnit unit = dot_of_bytes(name, 8, u8, s8, extension, intrinsic);
  unit.places_of_a = unit.places_of_b;
  return unit;
}

// Sums of products by twos have 16 bits, so one of the factors has seven.
constexpr MatrixUnit by_pairs(MatrixUnit unit) {
  unit.intrinsic_of_pairs = "x86.avx2.pmadd.ub.sw";
  unit.adds_to_sums = false;
  unit.unsigned_bits = 7;
  return unit;
}

// Of two terms.
constexpr MatrixUnit dot_of_words(std::string_view name, std::string_view places_of_a) {
  return {.name = name,
          .rows = 1,
          .columns = 8,
          .depth = 2,
          .a = s16,
          .b = s16,
          .accumulator = s32,
          .places_of_a = places_of_a,
          .places_of_b = "k0 n0 n1 n2",
          .places_of_sums = "n0 n1 n2",
          .extension = "avx2",
          .intrinsic = pmadd_words,
          .adds_to_sums = false};
}

// The operand with a sign is the second one of the instruction.
constexpr MatrixUnit b_first(MatrixUnit unit) {
  unit.takes_b_first = true;
  return unit;
}

constexpr MatrixUnit shifted_to(std::string_view other, MatrixUnit unit) {
  unit.shifted = other;
  return unit;
}

constexpr MatrixUnit tile(std::string_view name, DType element, DType accumulator,
                          std::string_view extension, std::string_view intrinsic) {
  const bool is_byte = element == s8;
  return {.name = name,
          .rows = 16,
          .columns = 16,
          .depth = is_byte ? 64 : 32,
          .a = element,
          .b = element,
          .accumulator = accumulator,
          .places_of_a = is_byte ? "k0 k1 k2 k3 k4 k5 m0 m1 m2 m3" : "k0 k1 k2 k3 k4 m0 m1 m2 m3",
          .places_of_b = is_byte ? "k0 k1 n0 n1 n2 n3 k2 k3 k4 k5" : "k0 n0 n1 n2 n3 k1 k2 k3 k4",
          .places_of_sums = "n0 n1 n2 n3 m0 m1 m2 m3",
          .keeps_subnormals = is_byte,
          .extension = extension,
          .intrinsic = intrinsic};
}

// A part of a tile: terms of one block of quantized numbers, whose sum is scaled by itself.
constexpr MatrixUnit tile_of_block(std::string_view name) {
  MatrixUnit unit = tile(name, s8, s32, "amx-int8", "x86.tdpbsud.internal");
  unit.depth = 32;
  unit.b = u8;
  unit.places_of_a = "k0 k1 k2 k3 k4 m0 m1 m2 m3";
  unit.places_of_b = "k0 k1 n0 n1 n2 n3 k2 k3 k4";
  return unit;
}

// Of all threads of a wave.
struct Places {
  std::string_view a, b, sums;
};
constexpr MatrixUnit of_wave(std::string_view name, std::int64_t depth, std::int64_t threads,
                             DType element, Places places, std::string_view extension,
                             std::string_view intrinsic) {
  return {.name = name,
          .rows = 16,
          .columns = 16,
          .depth = depth,
          .a = element,
          .b = element,
          .accumulator = f32,
          .places_of_a = places.a,
          .places_of_b = places.b,
          .places_of_sums = places.sums,
          .threads = threads,
          .extension = extension,
          .intrinsic = intrinsic};
}

// A register holds 32 bits of terms that follow each other: two, four or one.
constexpr std::string_view mma_sums = "n0 m3 | n1 n2 m0 m1 m2";
constexpr Places mma_16{"k0 m3 k3 | k1 k2 m0 m1 m2", "k0 k3 | k1 k2 n0 n1 n2", mma_sums};
constexpr Places mma_8{"k0 k1 m3 k4 | k2 k3 m0 m1 m2", "k0 k1 k4 | k2 k3 n0 n1 n2", mma_sums};
constexpr Places mma_32{"m3 k2 | k0 k1 m0 m1 m2", "k2 | k0 k1 n0 n1 n2", mma_sums};

constexpr MatrixUnit mma_sync(std::string_view name, std::int64_t depth, DType a, DType b,
                              Places places, std::string_view extension = "mma.sync") {
  MatrixUnit unit = of_wave(name, depth, 32, a, places, extension, {});
  unit.columns = 8;
  unit.b = b;
  if (!is_float(a)) unit.accumulator = s32;
  return unit;
}

constexpr MatrixUnit mma_sync_of_bytes(std::string_view name, DType a, DType b,
                                       std::string_view extension = "mma.sync") {
  return mma_sync(name, 32, a, b, mma_8, extension);
}

constexpr MatrixUnit mma_sync_f64() {
  MatrixUnit unit = mma_sync("mma.sync.f64", 8, f64, f64,
                             {"k2 | k0 k1 m0 m1 m2", "k2 | k0 k1 n0 n1 n2", "n0 | n1 n2 m0 m1 m2"});
  unit.rows = 8;
  unit.accumulator = f64;
  unit.instructions = 2;
  return unit;
}

constexpr MatrixUnit mma_sync_tf32() {
  MatrixUnit unit = mma_sync("mma.sync.tf32", 8, f32, f32, mma_32, "mma.sync-tf32");
  unit.factor_bits = 10;
  return unit;
}

constexpr Places mfma_4{"k0 k1 | m0 m1 m2 m3 k2 k3", "k0 k1 | n0 n1 n2 n3 k2 k3",
                        "m0 m1 | n0 n1 n2 n3 m2 m3"};
constexpr Places mfma_8{"k0 k1 k2 | m0 m1 m2 m3 k3 k4", "k0 k1 k2 | n0 n1 n2 n3 k3 k4",
                        "m0 m1 | n0 n1 n2 n3 m2 m3"};
constexpr Places mfma_16{"k0 k1 k2 k3 | m0 m1 m2 m3 k4 k5", "k0 k1 k2 k3 | n0 n1 n2 n3 k4 k5",
                         "m0 m1 | n0 n1 n2 n3 m2 m3"};
// Rows of doubles go round the threads.
constexpr Places mfma_2{"k0 | m0 m1 m2 m3 k1 k2", "k0 | n0 n1 n2 n3 k1 k2",
                        "m2 m3 | n0 n1 n2 n3 m0 m1"};
// Both halves of a wave hold the same operands.
constexpr Places wmma_11{"k0 k1 k2 k3 | m0 m1 m2 m3 -", "k0 k1 k2 k3 | n0 n1 n2 n3 -",
                         "m1 m2 m3 | n0 n1 n2 n3 m0"};
constexpr Places wmma_12{"k0 k1 k3 | m0 m1 m2 m3 k2", "k0 k1 k3 | n0 n1 n2 n3 k2",
                         "m0 m1 m2 | n0 n1 n2 n3 m3"};
constexpr Places wmma_12_bytes{"k0 k1 k2 | m0 m1 m2 m3 k3", "k0 k1 k2 | n0 n1 n2 n3 k3",
                               "m0 m1 m2 | n0 n1 n2 n3 m3"};

// An instruction of one term in each register is repeated for those that a thread has side by side.
constexpr MatrixUnit repeated(std::int64_t instructions, MatrixUnit unit) {
  unit.instructions = instructions;
  return unit;
}

constexpr MatrixUnit mfma_of_doubles() {
  MatrixUnit unit = repeated(
      2, of_wave("mfma.f64", 8, 64, DType::Float64, mfma_2, "mfma", "amdgcn.mfma.f64.16x16x4f64"));
  unit.accumulator = DType::Float64;
  return unit;
}

// Operands may be of two types of a byte each.
constexpr MatrixUnit of_bytes(DType b, MatrixUnit unit) {
  unit.b = b;
  if (!is_float(b)) unit.accumulator = s32;
  return unit;
}

constexpr MatrixUnit mfma_of_bytes(std::string_view name, DType a, DType b,
                                   std::string_view extension, std::string_view intrinsic) {
  return of_bytes(b, of_wave(name, 32, 64, a, mfma_8, extension, intrinsic));
}

constexpr MatrixUnit wmma_11_of_bytes(std::string_view name, DType a, DType b) {
  return of_bytes(
      b, of_wave(name, 16, 32, a, wmma_11, "wmma-11", "amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32"));
}

constexpr MatrixUnit wmma_12_of_bytes(
    std::string_view name, DType a, DType b,
    std::string_view intrinsic = "amdgcn.wmma.i32.16x16x16.iu8.v8i32.v2i32") {
  return of_bytes(b, of_wave(name, 16, 32, a, wmma_12_bytes, "wmma-12", intrinsic));
}

// Where the same instructions are of two encodings of such floats, by processor.
constexpr DType fnuz_e4m3 = DType::Float8E4M3FNUZ, fnuz_e5m2 = DType::Float8E5M2FNUZ;
constexpr std::string_view mfma_fp8_fp8 = "amdgcn.mfma.f32.16x16x32.fp8.fp8",
                           mfma_fp8_bf8 = "amdgcn.mfma.f32.16x16x32.fp8.bf8",
                           mfma_bf8_fp8 = "amdgcn.mfma.f32.16x16x32.bf8.fp8",
                           mfma_bf8_bf8 = "amdgcn.mfma.f32.16x16x32.bf8.bf8";

constexpr std::string_view vnni = "avx512vnni", vnni_512 = "x86.avx512.vpdpbusd.512";
constexpr std::string_view avxvnni = "avxvnni", vnni_256 = "x86.avx512.vpdpbusd.256";
constexpr std::string_view int8 = "avxvnniint8";

constexpr std::array units = {
    dot_of_bytes("avx512vnni.u8s8", 16, u8, s8, vnni, vnni_512),
    b_first(dot_of_bytes("avx512vnni.s8u8", 16, s8, u8, vnni, vnni_512)),
    shifted_to("avx512vnni.u8s8", dot_of_bytes("avx512vnni.s8s8", 16, s8, s8, vnni, vnni_512)),
    dot_of_bytes("avxvnni.u8s8", 8, u8, s8, avxvnni, vnni_256),
    b_first(dot_of_bytes("avxvnni.s8u8", 8, s8, u8, avxvnni, vnni_256)),
    dot_of_bytes("avxvnniint8.s8s8", 8, s8, s8, int8, "x86.avx2.vpdpbssd.256"),
    dot_of_bytes("avxvnniint8.u8u8", 8, u8, u8, int8, "x86.avx2.vpdpbuud.256"),
    shifted_to("avxvnni.u8s8", dot_of_bytes("avxvnni.s8s8", 8, s8, s8, avxvnni, vnni_256)),
    dots_of_columns("avx512vnni.columns", vnni, vnni_256),
    dots_of_columns("avxvnni.columns", avxvnni, vnni_256),
    by_pairs(b_first(dot_of_bytes("avx2.s8u7", 8, s8, u8, "avx2", pmadd_words))),
    by_pairs(dots_of_columns("avx2.columns.u7s8", "avx2", pmadd_words)),
    dot_of_words("avx2.s16s16", "k0 - - -"),
    dot_of_words("avx2.columns.s16s16", "k0 n0 n1 n2"),
    MatrixUnit{.name = "avx512bf16",
               .rows = 1,
               .columns = 16,
               .depth = 2,
               .a = bf16,
               .b = bf16,
               .accumulator = f32,
               .places_of_a = "k0 - - - -",
               .places_of_b = "k0 n0 n1 n2 n3",
               .places_of_sums = "n0 n1 n2 n3",
               .keeps_subnormals = false,
               .extension = "avx512bf16",
               .intrinsic = "x86.avx512bf16.dpbf16ps.512"},
    tile("amx.s8s8", s8, s32, "amx-int8", "x86.tdpbssd.internal"),
    tile("amx.bf16", bf16, f32, "amx-bf16", "x86.tdpbf16ps.internal"),
    tile_of_block("amx.block.s8u8"),
    mma_sync("mma.sync.f16", 16, f16, f16, mma_16),
    mma_sync("mma.sync.bf16", 16, bf16, bf16, mma_16),
    mma_sync_of_bytes("mma.sync.s8s8", s8, s8),
    mma_sync_of_bytes("mma.sync.u8u8", u8, u8),
    mma_sync_of_bytes("mma.sync.s8u8", s8, u8),
    mma_sync_of_bytes("mma.sync.u8s8", u8, s8),
    mma_sync_f64(),
    mma_sync_of_bytes("mma.sync.e4m3e4m3", e4m3, e4m3, "mma.sync-fp8"),
    mma_sync_of_bytes("mma.sync.e5m2e5m2", e5m2, e5m2, "mma.sync-fp8"),
    mma_sync_of_bytes("mma.sync.e4m3e5m2", e4m3, e5m2, "mma.sync-fp8"),
    mma_sync_of_bytes("mma.sync.e5m2e4m3", e5m2, e4m3, "mma.sync-fp8"),
    mma_sync_tf32(),
    of_wave("mfma.f16", 16, 64, f16, mfma_4, "mfma", "amdgcn.mfma.f32.16x16x16f16"),
    of_wave("mfma.bf16", 16, 64, bf16, mfma_4, "mfma", "amdgcn.mfma.f32.16x16x16bf16.1k"),
    repeated(4, of_wave("mfma.f32", 16, 64, f32, mfma_4, "mfma", "amdgcn.mfma.f32.16x16x4f32")),
    mfma_of_doubles(),
    mfma_of_bytes("mfma.s8s8", s8, s8, "mfma", "amdgcn.mfma.i32.16x16x32.i8"),
    mfma_of_bytes("mfma.fnuz.e4m3e4m3", fnuz_e4m3, fnuz_e4m3, "mfma-fnuz", mfma_fp8_fp8),
    mfma_of_bytes("mfma.fnuz.e4m3e5m2", fnuz_e4m3, fnuz_e5m2, "mfma-fnuz", mfma_fp8_bf8),
    mfma_of_bytes("mfma.fnuz.e5m2e4m3", fnuz_e5m2, fnuz_e4m3, "mfma-fnuz", mfma_bf8_fp8),
    mfma_of_bytes("mfma.fnuz.e5m2e5m2", fnuz_e5m2, fnuz_e5m2, "mfma-fnuz", mfma_bf8_bf8),
    of_wave("mfma.k32.f16", 32, 64, f16, mfma_8, "mfma-k32", "amdgcn.mfma.f32.16x16x32.f16"),
    of_wave("mfma.k32.bf16", 32, 64, bf16, mfma_8, "mfma-k32", "amdgcn.mfma.f32.16x16x32.bf16"),
    of_bytes(s8, of_wave("mfma.k64.s8s8", 64, 64, s8, mfma_16, "mfma-k32",
                         "amdgcn.mfma.i32.16x16x64.i8")),
    mfma_of_bytes("mfma.e4m3e4m3", e4m3, e4m3, "mfma-k32", mfma_fp8_fp8),
    mfma_of_bytes("mfma.e4m3e5m2", e4m3, e5m2, "mfma-k32", mfma_fp8_bf8),
    mfma_of_bytes("mfma.e5m2e4m3", e5m2, e4m3, "mfma-k32", mfma_bf8_fp8),
    mfma_of_bytes("mfma.e5m2e5m2", e5m2, e5m2, "mfma-k32", mfma_bf8_bf8),
    of_wave("wmma.11.f16", 16, 32, f16, wmma_11, "wmma-11",
            "amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16"),
    of_wave("wmma.11.bf16", 16, 32, bf16, wmma_11, "wmma-11",
            "amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16"),
    wmma_11_of_bytes("wmma.11.s8s8", s8, s8),
    wmma_11_of_bytes("wmma.11.u8u8", u8, u8),
    wmma_11_of_bytes("wmma.11.s8u8", s8, u8),
    wmma_11_of_bytes("wmma.11.u8s8", u8, s8),
    of_wave("wmma.12.f16", 16, 32, f16, wmma_12, "wmma-12",
            "amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16"),
    of_wave("wmma.12.bf16", 16, 32, bf16, wmma_12, "wmma-12",
            "amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16"),
    wmma_12_of_bytes("wmma.12.s8s8", s8, s8),
    wmma_12_of_bytes("wmma.12.u8u8", u8, u8),
    wmma_12_of_bytes("wmma.12.s8u8", s8, u8),
    wmma_12_of_bytes("wmma.12.u8s8", u8, s8),
    wmma_12_of_bytes("wmma.12.e4m3e4m3", e4m3, e4m3,
                     "amdgcn.wmma.f32.16x16x16.fp8.fp8.v8f32.v2i32"),
    wmma_12_of_bytes("wmma.12.e4m3e5m2", e4m3, e5m2,
                     "amdgcn.wmma.f32.16x16x16.fp8.bf8.v8f32.v2i32"),
    wmma_12_of_bytes("wmma.12.e5m2e4m3", e5m2, e4m3,
                     "amdgcn.wmma.f32.16x16x16.bf8.fp8.v8f32.v2i32"),
    wmma_12_of_bytes("wmma.12.e5m2e5m2", e5m2, e5m2,
                     "amdgcn.wmma.f32.16x16x16.bf8.bf8.v8f32.v2i32"),
};

int number_behind(std::string_view word) {
  int number = 0;
  for (char digit : word.substr(1)) number = number * 10 + (digit - '0');
  return number;
}

PlaceBits bit_of(std::string_view word, int place) {
  if (word == "-") return {'-', place, 0, 1};
  const std::size_t end = word.find('^');
  PlaceBits bit{word[0], place, number_behind(word.substr(0, end)), 1};
  if (end != std::string_view::npos) {
    bit.flipped_by = word[end + 1];
    bit.first_of_flipping = number_behind(word.substr(end + 1));
  }
  return bit;
}

bool go_on(const PlaceBits& before, const PlaceBits& next) {
  return before.axis == next.axis && before.first_of_place + before.count == next.first_of_place &&
         (next.axis == '-' || before.first_of_axis + before.count == next.first_of_axis) &&
         before.flipped_by == next.flipped_by &&
         (next.flipped_by == 0 ||
          before.first_of_flipping + before.count == next.first_of_flipping);
}

// Joined where they follow each other.
std::vector<PlaceBits> read_bits(std::string_view places, bool with_repeats) {
  std::vector<PlaceBits> bits;
  int place = 0;
  while (!places.empty()) {
    const std::size_t end = std::min(places.find(' '), places.size());
    const std::string_view word = places.substr(0, end);
    places.remove_prefix(std::min(end + 1, places.size()));
    if (word == "|" || (word == "-" && !with_repeats)) continue;
    const PlaceBits bit = bit_of(word, place++);
    if (!bits.empty() && go_on(bits.back(), bit)) {
      bits.back().count++;
    } else {
      bits.push_back(bit);
    }
  }
  return bits;
}

bool is_subnormal(double x) { return x != 0 && std::abs(x) < 0x1p-126; }

// To nearest, ties away from zero: half of the last bit is added to the others' bits.
std::int64_t rounded_to(int bits, std::int64_t value) {
  const auto x = static_cast<float>(std::bit_cast<double>(value));
  if (!std::isfinite(x)) return value;
  const std::uint32_t dropped = 1u << (23 - bits);
  const std::uint32_t near = (std::bit_cast<std::uint32_t>(x) + dropped / 2) & ~(dropped - 1);
  return std::bit_cast<std::int64_t>(static_cast<double>(std::bit_cast<float>(near)));
}

std::int64_t factor(const MatrixUnit& unit, std::int64_t bits) {
  return unit.factor_bits == 0 ? bits : rounded_to(unit.factor_bits, bits);
}

// The same, but for what the unit takes for zero.
std::int64_t seen(const MatrixUnit& unit, std::int64_t bits, DType t) {
  if (unit.keeps_subnormals || !is_float(t)) return bits;
  const auto value = std::bit_cast<double>(bits);
  return is_subnormal(value) ? std::bit_cast<std::int64_t>(std::copysign(0.0, value)) : bits;
}

// An operand by its coordinates, the rows one after the other, from its places.
struct Rows {
  std::int64_t MatrixElement::*row;
  std::int64_t MatrixElement::*column;
  std::int64_t columns;
};
std::vector<std::int64_t> matrix(const MatrixUnit& unit, std::string_view places,
                                 std::span<const std::int64_t> values, DType t, Rows rows) {
  const std::vector<PlaceBits> bits = element_bits(places);
  ensure(std::ssize(values) == count_places(bits), "unit {}: {} elements for {} places", unit.name,
         values.size(), count_places(bits));
  std::vector<std::int64_t> result(values.size());
  for (std::int64_t place = 0; place < std::ssize(values); place++) {
    const MatrixElement e = element_at(bits, place);
    result[static_cast<std::size_t>((e.*rows.row) * rows.columns + e.*rows.column)] =
        factor(unit, seen(unit, values[static_cast<std::size_t>(place)], t));
  }
  return result;
}

}  // namespace

bool has_row_for_each_column(const MatrixUnit& unit) {
  return std::ranges::any_of(place_bits(unit.places_of_a),
                             [](const PlaceBits& b) { return b.axis == 'n'; });
}

std::span<const MatrixUnit> matrix_units() {
  static const std::vector<MatrixUnit>& all = *new std::vector<MatrixUnit>([] {
    std::vector<MatrixUnit> result(units.begin(), units.end());
    std::ranges::copy(warpgroup_units(), std::back_inserter(result));
    std::ranges::copy(cooperative_units(), std::back_inserter(result));
    return result;
  }());
  return all;
}

std::vector<const MatrixUnit*> units_of_extension(std::string_view extension) {
  std::vector<const MatrixUnit*> found;
  for (const MatrixUnit& unit : matrix_units()) {
    if (unit.extension == extension) found.push_back(&unit);
  }
  return found;
}

bool is_allowed(const MatrixUnit& unit) {
  return unit.factor_bits == 0 || Options::flag(Option::Tf32);
}

const MatrixUnit* find_matrix_unit(std::string_view name) {
  const std::span<const MatrixUnit> all = matrix_units();
  const auto unit = std::ranges::find(all, name, &MatrixUnit::name);
  return unit == all.end() ? nullptr : &*unit;
}

std::vector<PlaceBits> place_bits(std::string_view places) { return read_bits(places, true); }

std::vector<PlaceBits> element_bits(std::string_view places) { return read_bits(places, false); }

std::int64_t count_places(std::span<const PlaceBits> bits) {
  std::int64_t count = 1;
  for (const PlaceBits& b : bits) count <<= b.count;
  return count;
}

std::int64_t places_of_thread(const MatrixUnit& unit, std::string_view places) {
  return count_places(place_bits(places)) / unit.threads;
}

std::int64_t bytes_of_kept_sums(const MatrixUnit& unit) {
  return unit.keeps_sums ? unit.rows * unit.columns * size_of(unit.accumulator) : 0;
}

std::int64_t repeating_places(std::string_view places) {
  const std::vector<PlaceBits> bits = place_bits(places);
  int last = 0;
  for (const PlaceBits& flipped : bits) {
    for (const PlaceBits& b : bits) {
      const int flipping = flipped.first_of_flipping + flipped.count - b.first_of_axis;
      if (flipped.flipped_by == b.axis && flipping > 0 && flipping <= b.count)
        last = std::max(last, b.first_of_place + flipping);
    }
  }
  return std::int64_t{1} << last;
}

MatrixElement element_at(std::span<const PlaceBits> bits, std::int64_t place) {
  MatrixElement e;
  const auto coordinate = [&](char axis) -> std::int64_t& {
    return axis == 'm' ? e.m : axis == 'n' ? e.n : e.k;
  };
  for (const bool are_flipped : {false, true}) {
    for (const PlaceBits& b : bits) {
      if (b.axis == '-' || (b.flipped_by != 0) != are_flipped) continue;
      std::int64_t part = place >> b.first_of_place;
      if (are_flipped) part ^= coordinate(b.flipped_by) >> b.first_of_flipping;
      coordinate(b.axis) += (part & ((std::int64_t{1} << b.count) - 1)) << b.first_of_axis;
    }
  }
  return e;
}

void contract(const MatrixUnit& unit, std::span<const std::int64_t> sums,
              std::span<const std::int64_t> a, std::span<const std::int64_t> b,
              std::span<std::int64_t> result) {
  const auto row = has_row_for_each_column(unit) ? &MatrixElement::n : &MatrixElement::m;
  const std::vector<std::int64_t> left = matrix(unit, unit.places_of_a, a, unit.a,
                                                {row, &MatrixElement::k, unit.depth}),
                                  right =
                                      matrix(unit, unit.places_of_b, b, unit.b,
                                             {&MatrixElement::k, &MatrixElement::n, unit.columns});
  const std::vector<PlaceBits> bits = element_bits(unit.places_of_sums);
  const DType t = unit.accumulator;
  for (std::size_t place = 0; place < sums.size(); place++) {
    const MatrixElement e = element_at(bits, static_cast<std::int64_t>(place));
    std::int64_t sum = seen(unit, sums[place], t);
    for (std::int64_t term = unit.depth; term-- > 0;) {
      const auto at_a = static_cast<std::size_t>(e.*row * unit.depth + term);
      const auto at_b = static_cast<std::size_t>(term * unit.columns + e.n);
      const std::int64_t in[] = {convert(left[at_a], unit.a, t), convert(right[at_b], unit.b, t),
                                 sum};
      sum = seen(unit, eval(Op::MulAdd, t, t, in), t);
    }
    result[place] = sum;
  }
}

}  // namespace croze
