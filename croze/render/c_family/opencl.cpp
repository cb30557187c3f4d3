// opencl.cpp -- the words of OpenCL C.
#include "croze/render/c_family/opencl.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "croze/base/error.h"
#include "croze/render/c_family/vector_writer.h"
#include "croze/render/c_family/writer.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

using c_family::Dialect;

// ---- images -------------------------------------------------------------------------------------
//
// An image has integers for channels, whatever the elements are, so that all their bits come
// through: devices may take subnormal floats for zeros, and NaN for another one, where they read
// channels of floats.
//
// A launch whose buffers do not begin at a pixel has no images, so one text says both how pixels
// are read and, where CROZE_PLAIN is defined, how the same elements are read of buffers.  Then what
// follows a buffer among the arguments is its first byte, else its first pixel.

constexpr std::string_view first_word = "#ifdef CROZE_PLAIN\n#define IMAGE ";

constexpr std::string_view elements_of_buffers =
    "#define elements(image, first, at, type) \\\n"
    "  vload4(0, (__global const type*)((image) + (first)) + (at))\n"
    "#define pixel1(image, first, at) elements(image, first, at, uchar)\n"
    "#define pixel2(image, first, at) elements(image, first, at, ushort)\n"
    "#define pixel4(image, first, at) elements(image, first, at, uint)\n";

constexpr std::string_view pixels_of_images =
    "#define pixel1(image, first, at) convert_uchar4(pixel4(image, first, at))\n"
    "#define pixel2(image, first, at) convert_ushort4(pixel4(image, first, at))\n"
    "#define pixel4(image, first, at) \\\n"
    "  read_imageui(image, pixel_at((int)(first) + (int)((at) / 4)))\n";

// The words of all of them.  `row`: pixels in a row of two-dimensional ones; 0: they have one.
std::string words_of_images(std::int64_t row) {
  std::string place = "#define pixel_at(number) (number)\n";
  if (row > 0) {
    place = fmt::format("#define pixel_at(number) (int2)((number) & {}, (number) >> {})\n", row - 1,
                        std::countr_zero(static_cast<std::uint64_t>(row)));
  }
  return fmt::format("{}__global const uchar*\n{}#else\n#define IMAGE __read_only {}\n{}{}#endif\n",
                     first_word, elements_of_buffers, row > 0 ? "image2d_t" : "image1d_buffer_t",
                     place, pixels_of_images);
}

std::string image_parameter(std::int64_t slot) {
  return fmt::format("IMAGE p{0}, const long o{0}", slot);
}

// Macro of the elements from a place on, which is a multiple of four.
c_family::Helper pixels_helper(const Dialect& dialect, DType t, std::int64_t lanes) {
  const std::string_view type = dialect.type(t);
  c_family::Helper helper;
  helper.name = fmt::format("pixels_{}{}", type, lanes);
  std::string pixels;
  for (std::int64_t lane = 0; lane < lanes; lane += 4) {
    const std::string at = lane ? fmt::format("(at) + {}", lane) : "at";
    pixels +=
        fmt::format("{}as_{}4(pixel{}(image, first, {}))", lane ? ", " : "", type, size_of(t), at);
  }
  helper.text = fmt::format("#define {}(image, first, at) \\\n  (({}{})({}))\n", helper.name, type,
                            lanes, pixels);
  return helper;
}

// ---- declarations -------------------------------------------------------------------------------

// Items that work together have one axis in their group, so that they stand in subgroups in their
// order.
bool is_flat(const LinearProgram& program) {
  return std::ranges::any_of(program.instructions,
                             [](UOp u) { return u.is(Op::Shuffle) || u.is(Op::Ballot); });
}

// Compilers may specialise for the size of the group when they know it.
std::string signature(const LinearProgram& program) {
  const ProgramInfo& info = program.info;
  std::string arguments;
  for (int i = 0; i < info.num_buffers; i++) {
    arguments += i ? ", " : "";
    arguments += info.reads_image(i) ? image_parameter(i)
                                     : fmt::format("__global uchar* p{0}, const long o{0}", i);
  }
  for (int i = 0; i < info.num_variables; i++) {
    arguments += fmt::format("{}const long a{}", arguments.empty() ? "" : ", ", i);
  }
  const auto& items = info.launch.items;
  const std::string group = is_flat(program)
                                ? fmt::format("{}, 1, 1", items[0] * items[1] * items[2])
                                : fmt::format("{}, {}, {}", items[0], items[1], items[2]);
  return fmt::format(
      "__kernel __attribute__((reqd_work_group_size({})))\n"
      "void {}({}) {{",
      group, c_family::entry_name(info.name), arguments);
}

// For compilers that choose the size of subgroups: kernels count on this one.
std::string with_subgroups_of(std::int64_t items, std::string text) {
  constexpr std::string_view begin = "__kernel ";
  const std::size_t at = text.find(begin) + begin.size();
  return text.insert(at, fmt::format("__attribute__((intel_reqd_sub_group_size({}))) ", items));
}

std::string declare_param(const Dialect& dialect, UOp param, std::string_view name, bool is_written,
                          bool is_alone) {
  return fmt::format("__global {0}{1}* {2}{3} = (__global {0}{1}*)(p{4} + o{4});",
                     is_written ? "" : "const ", dialect.type(param.dtype()),
                     is_alone ? "restrict " : "", name, param.slot());
}

std::string declare_variable(const Dialect& dialect, UOp variable, std::string_view name) {
  const std::string_view type = dialect.type(variable.dtype());
  return fmt::format("const {0} {1} = ({0})a{2};", type, name, variable.arg().ints[0]);
}

// Of items that are alone in their groups a large tile is that of the group, which has more room.
std::string declare_local(const Dialect& dialect, UOp local, std::string_view name, std::int64_t) {
  const std::int64_t bytes = local.buffer_elements() * size_of(local.dtype());
  const bool shared =
      static_cast<Space>(local.arg().ints[2]) == Space::Group || bytes > most_private_bytes;
  return fmt::format("{}{} {}[{}];", shared ? "__local " : "", dialect.type(local.dtype()), name,
                     local.buffer_elements());
}

std::string declare_special(const Dialect& dialect, const LinearProgram& program, UOp special,
                            std::string_view name) {
  ensure(special.loop_kind() != LoopKind::Thread, "the opencl renderer has no tasks");
  const std::string_view type = dialect.type(special.dtype());
  const bool is_group = special.loop_kind() == LoopKind::Group;
  const std::int64_t axis = special.arg().ints[0];
  if (is_group || !is_flat(program)) {
    return fmt::format("const {0} {1} = ({0})get_{2}_id({3});", type, name,
                       is_group ? "group" : "local", axis);
  }
  std::int64_t before = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(axis); i++)
    before *= program.info.launch.items[i];
  return fmt::format("const {0} {1} = ({0})(get_local_id(0) / {2} % {3});", type, name, before,
                     special.arg().ints[1]);
}

c_family::Helper shuffle(const Dialect& words, DType t) {
  return c_family::shuffle_helper(words, t, "  return sub_group_shuffle_xor(value, (uint)bit);\n");
}

// Halves are loaded, stored and converted; what is computed of them is Float32.
constexpr std::string_view preamble = "#pragma OPENCL FP_CONTRACT OFF\n";
constexpr std::string_view preamble_of_halves =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL FP_CONTRACT OFF\n";

constexpr Dialect make_dialect(bool has_halves) {
  Dialect d{};
  d.name = "opencl";
  auto set = [&](DType t, std::string_view text) { d.types[static_cast<std::size_t>(t)] = text; };
  set(DType::Bool, "uchar");
  set(DType::Int8, "char");
  set(DType::UInt8, "uchar");
  set(DType::Int16, "short");
  set(DType::UInt16, "ushort");
  set(DType::Int32, "int");
  set(DType::UInt32, "uint");
  set(DType::Int64, "long");
  set(DType::Index, "long");
  set(DType::UInt64, "ulong");
  set(DType::Float32, "float");
  set(DType::Float64, "double");
  if (has_halves) set(DType::Float16, "half");
  d.preamble = has_halves ? preamble_of_halves : preamble;
  d.hides_bytes = true;
  d.bitcast = "as_{T}({0})";
  d.barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
  d.signature = signature;
  d.declare_param = declare_param;
  d.declare_variable = declare_variable;
  d.declare_local = declare_local;
  d.declare_special = declare_special;
  d.shuffle = shuffle;
  d.ballot = "as_ulong(sub_group_ballot({0}).s01)";
  d.read_pixels = pixels_helper;
  return d;
}

constexpr Dialect dialect = make_dialect(false), dialect_with_halves = make_dialect(true);

}  // namespace

std::string OpenClRenderer::entry(std::string_view kernel) { return c_family::entry_name(kernel); }
bool OpenClRenderer::reads_images(std::string_view source) {
  return source.find(first_word) != std::string_view::npos;
}
OpSet OpenClRenderer::ops() { return c_family::supported_ops(); }
std::uint32_t OpenClRenderer::dtypes() { return c_family::supported_dtypes(dialect); }

std::string OpenClRenderer::render(const LinearProgram& program) const {
  std::string text = text_of(program);
  const bool asks = target_.subgroup_items > 0 && is_flat(program);
  return asks ? with_subgroups_of(target_.subgroup_items, std::move(text)) : text;
}

std::string OpenClRenderer::text_of(const LinearProgram& program) const {
  Dialect words = target_.halves ? dialect_with_halves : dialect;
  if (!c_family::can_write_vectors(program, most_lanes)) {
    ensure(program.info.images.empty(), "kernel {}: images without vectors", program.info.name);
    return c_family::write_program(words, program);
  }
  std::string preamble(words.preamble);
  if (!program.info.images.empty()) preamble += "\n" + words_of_images(target_.image_row);
  words.preamble = preamble;
  return c_family::text_of(
      words, c_family::write_vector_kernel(words, c_family::opencl_vectors(), program));
}

}  // namespace croze
