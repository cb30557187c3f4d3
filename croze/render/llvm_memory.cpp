// llvm_memory.cpp -- the instructions of each kind of access.
#include "croze/render/llvm_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "croze/base/error.h"

namespace croze {
namespace {

class Memory {
 public:
  Memory(LlvmText& text, const LlvmPlace& place, std::int64_t lanes)
      : text_(text),
        place_(place),
        type_{place.read_as == DType::Void ? place.dtype : place.read_as, lanes},
        size_(size_of(place.dtype)) {}

  LlvmValue load();
  void store(const LlvmValue& value);
  void prefetch(std::int64_t cache);

 private:
  LlvmValue load_behind_one_gate();
  void store_behind_one_gate(const std::string& value);
  LlvmValue load_runs();
  LlvmValue load_repeated();
  LlvmValue load_strided();
  LlvmValue load_apart(LlvmType type, std::int64_t run);
  LlvmValue gather(const LlvmArgument& from);
  LlvmValue load_every_other();
  bool has_short_steps() const;
  std::int64_t spanned() const {
    return place_.before + place_.behind + (type_.lanes - 1) * place_.step + 1;
  }
  std::int64_t vectors_spanned() const { return (spanned() + type_.lanes - 1) / type_.lanes; }
  LlvmValue load_short_steps();
  std::string lanes_up_to(std::int64_t v, std::int64_t begin) const;
  LlvmValue load_part(const std::string& pointer, std::int64_t first);
  void store_tile(const LlvmTile& tile);
  void store_runs(const LlvmValue& value);
  // Of lanes side by side, or equal ones.
  bool has_whole_runs() const { return place_.run != 0 && place_.step <= 1; }
  void store_strided(const LlvmValue& value);
  // Processors with registers of 64 bytes write the lanes of one apart by an instruction.  It is as
  // fast as so many stores, but those take LLVM ten times as long to compile.
  bool has_scatter() const { return size_ >= 4 && type_.lanes * size_ == 64; }
  bool is_full_register() const { return has_scatter() && place_.read_as == DType::Void; }

  std::string address(bool in_bounds);
  std::string address_of_index();
  std::string offset_from(std::string_view pointer, std::string_view index, bool in_bounds);
  bool has_one_gate() const { return place_.gate && place_.gate->type.lanes == 1; }
  LlvmArgument gate();
  std::string masked_address();
  LlvmArgument pointers() {
    return {fmt::format("<{} x ptr>", type_.lanes),
            offset_from(place_.pointer, place_.index.text(), false)};
  }
  LlvmArgument strided_pointers();
  LlvmArgument alignment() const { return {"i32", fmt::format("{}", size_)}; }
  std::string suffix(std::string_view pointer) const;

  LlvmType memory_type() const {
    return type_.dtype == DType::Bool ? type_.with(DType::UInt8) : type_;
  }
  std::string element_text() const {
    return LlvmType{place_.dtype == DType::Bool ? DType::UInt8 : place_.dtype, 1}.text();
  }
  LlvmValue from_memory(const LlvmValue& value);
  LlvmValue to_memory(const LlvmValue& value);

  LlvmText& text_;
  const LlvmPlace& place_;
  LlvmType type_;
  std::int64_t size_;  // of an element
};

// ---- addresses --------------------------------------------------------------------------------

// An address behind a closed gate may lie anywhere.
std::string Memory::address(bool in_bounds) {
  const std::string base = address_of_index();
  if (place_.offset == 0) return base;
  return text_.behind(element_text(), base, place_.offset, in_bounds);
}

std::string Memory::address_of_index() {
  std::string result = place_.pointer;
  for (const LlvmValue& part : place_.outer)
    result = text_.address(element_text(), result, part.text());
  if (place_.index.name == "0") return result;
  return text_.address(element_text(), result, place_.index.text());
}

std::string Memory::offset_from(std::string_view pointer, std::string_view index, bool in_bounds) {
  const std::string name = text_.fresh();
  text_.line("{} = getelementptr {}{}, ptr {}, {}", name, in_bounds ? "inbounds " : "",
             element_text(), pointer, index);
  return name;
}

LlvmArgument Memory::gate() {
  const LlvmType type = type_.with(DType::Bool);
  return place_.gate ? *place_.gate : LlvmValue{llvm_constant(type, 1), type};
}

// Where contiguous lanes lie, some of them perhaps behind a closed gate; the pointer itself where
// all are.  A vector of closed lanes faults nowhere, but where it lies in a page that nobody has
// touched the processor takes hundreds of cycles to find that out, each time again.
std::string Memory::masked_address() {
  const std::string far = address(false);
  if (!place_.gate) return far;
  const LlvmValue any = llvm_any(text_, *place_.gate);
  const std::string near = text_.fresh();
  text_.line("{} = select {}, ptr {}, ptr {}", near, any.text(), far, place_.pointer);
  return near;
}

// Lane 0 and constant offsets from it: the addresses that the instruction has.
LlvmArgument Memory::strided_pointers() {
  std::string steps;
  for (std::int64_t k = 0; k < type_.lanes; k++) {
    steps += fmt::format("{}i64 {}", k ? ", " : "", place_.offset_of_lane(k));
  }
  const std::string index = fmt::format("<{} x i64> <{}>", type_.lanes, steps);
  const bool in_bounds = !place_.gate;
  return {fmt::format("<{} x ptr>", type_.lanes),
          offset_from(address(in_bounds), index, in_bounds)};
}

// "v16f32.p0": the overloaded types of a masked access.
std::string Memory::suffix(std::string_view pointer) const {
  return fmt::format("{}.{}", memory_type().suffix(), pointer);
}

// Bool is a byte in memory.
LlvmValue Memory::from_memory(const LlvmValue& value) {
  return llvm_elementwise(text_, Op::Cast, type_, {&value, 1});
}

LlvmValue Memory::to_memory(const LlvmValue& value) {
  return llvm_elementwise(text_, Op::Cast, memory_type(), {&value, 1});
}

// ---- loads ------------------------------------------------------------------------------------

LlvmValue Memory::load() {
  const LlvmType type = memory_type();
  const bool contiguous = place_.contiguous(type.lanes);
  if (has_whole_runs()) return load_runs();
  if (!contiguous && place_.index.type.lanes == 1) return load_strided();
  if (has_one_gate()) return load_behind_one_gate();
  if (contiguous && !place_.gate) {
    const std::string p = address(true);
    return from_memory(text_.define(type, "load {}, ptr {}, align {}", type.text(), p, size_));
  }
  if (!contiguous) return from_memory(gather(pointers()));
  const LlvmArgument arguments[] = {
      {"ptr", masked_address()}, alignment(), gate(), llvm_zero(type)};
  return from_memory(
      text_.define(type, "{}", text_.call(type.text(), "masked.load." + suffix("p0"), arguments)));
}

LlvmValue Memory::gather(const LlvmArgument& from) {
  const LlvmType type = memory_type();
  const LlvmArgument arguments[] = {from, alignment(), gate(), llvm_zero(type)};
  const std::string name = "masked.gather." + suffix(fmt::format("v{}p0", type.lanes));
  return text_.define(type, "{}", text_.call(type.text(), name, arguments));
}

// Element 0 is always there to be read, and so are as many as there would be behind an open gate:
// cheaper than a branch, and than a mask.
LlvmValue Memory::load_behind_one_gate() {
  const LlvmType type = memory_type();
  const std::string safe = text_.fresh();
  text_.line("{} = select {}, ptr {}, ptr {}", safe, place_.gate->text(), address(false),
             place_.pointer);
  const LlvmValue loaded =
      text_.define(type, "load {}, ptr {}, align {}", type.text(), safe, size_);
  const LlvmValue result[] = {*place_.gate, loaded, llvm_zero(type)};
  return from_memory(llvm_elementwise(text_, Op::Where, type, result));
}

// Two vectors from the first element that is read to the last, and a shuffle.
LlvmValue Memory::load_every_other() {
  const LlvmType type = memory_type();
  const std::int64_t lanes = type.lanes;
  const std::string base = place_.gate ? masked_address() : address(true);
  const std::string next =
      offset_from(base, fmt::format("i64 {}", lanes - 1), !place_.gate.has_value());
  const std::string low = load_part(base, 0).text(), high = load_part(next, lanes - 1).text();
  std::string chosen;
  for (std::int64_t k = 0; k < lanes; k++) {
    const std::int64_t from_high = 2 * k - (lanes - 1) + lanes;  // numbered after those of `low`
    chosen += fmt::format("{}i32 {}", k ? ", " : "", 2 * k < lanes ? 2 * k : from_high);
  }
  return from_memory(
      text_.define(type, "shufflevector {}, {}, <{} x i32> <{}>", low, high, lanes, chosen));
}

// A vector from element `first` on, of which every other one is wanted and behind a gate.
LlvmValue Memory::load_part(const std::string& pointer, std::int64_t first) {
  const LlvmType type = memory_type();
  if (!place_.gate) {
    return text_.define(type, "load {}, ptr {}, align {}", type.text(), pointer, size_);
  }
  std::string chosen;
  for (std::int64_t i = 0; i < type.lanes; i++) {
    const bool is_wanted = (first + i) % 2 == 0;
    chosen += fmt::format("{}i32 {}", i ? ", " : "", is_wanted ? (first + i) / 2 : type.lanes);
  }
  const LlvmType gates = type.with(DType::Bool);
  const LlvmValue open =
      text_.define(gates, "shufflevector {}, {}, <{} x i32> <{}>", place_.gate->text(),
                   LlvmValue{"zeroinitializer", gates}.text(), type.lanes, chosen);
  const LlvmArgument arguments[] = {{"ptr", pointer}, alignment(), open, llvm_zero(type)};
  return text_.define(type, "{}",
                      text_.call(type.text(), "masked.load." + suffix("p0"), arguments));
}

// Runs of equal lanes are loaded as an element each, which a shuffle repeats.
LlvmValue Memory::load_repeated() {
  const std::int64_t count = type_.lanes / place_.run;
  const LlvmValue elements = load_apart({memory_type().dtype, count}, place_.run);
  std::string chosen;
  for (std::int64_t k = 0; k < type_.lanes; k++)
    chosen += fmt::format("{}i32 {}", k ? ", " : "", k / place_.run);
  return from_memory(text_.define(memory_type(), "shufflevector {}, {} poison, <{} x i32> <{}>",
                                  elements.text(), elements.type.text(), type_.lanes, chosen));
}

LlvmValue Memory::load_runs() {
  if (place_.step == 0) return load_repeated();
  const LlvmType run{memory_type().dtype, place_.run};
  const std::string base = address(true);
  std::vector<LlvmValue> runs;
  for (std::int64_t k = 0; k < type_.lanes / place_.run; k++) {
    const std::string p = offset_from(base, fmt::format("i64 {}", k * place_.jump), true);
    runs.push_back(text_.define(run, "load {}, ptr {}, align {}", run.text(), p, size_));
  }
  return from_memory(llvm_joined(text_, runs));
}

// Vectors that hold all from the first element to the last take half as many instructions as lanes
// one by one, if there are half as many, where a shuffle takes any element of two of them: on
// processors with registers of 64 bytes.
bool Memory::has_short_steps() const {
  return is_full_register() && place_.run == 0 && place_.step > 0 &&
         2 * vectors_spanned() <= type_.lanes;
}

// The vectors are the same for all that are loaded at this step nearby, so they begin with the
// first element of any and end with the last: between elements that are there others are, too.
LlvmValue Memory::load_short_steps() {
  const LlvmType type = memory_type();
  const std::string base = address_of_index();
  const auto vector = [&](std::int64_t begin) {
    const std::int64_t offset = place_.offset - place_.before + begin;
    return text_.loaded(type, element_text(), base, offset, size_);
  };
  LlvmValue result = vector(0);
  for (std::int64_t v = 1; v < vectors_spanned(); v++) {
    const std::int64_t begin = std::min(v * type.lanes, spanned() - type.lanes);
    const std::string chosen = lanes_up_to(v, begin);
    if (chosen.empty()) continue;
    result = text_.define(type, "shufflevector {}, {}, <{} x i32> <{}>", result.text(),
                          vector(begin).text(), type.lanes, chosen);
  }
  return result;
}

// Of what the vectors before number v have given and of that one, which begins with the element
// `begin`: the lanes so far, those to come being anything; empty if it gives none.
std::string Memory::lanes_up_to(std::int64_t v, std::int64_t begin) const {
  const std::int64_t lanes = type_.lanes;
  std::string result;
  bool takes_any = v == 1;
  for (std::int64_t k = 0; k < lanes; k++) {
    const std::int64_t element = place_.before + k * place_.step;
    const bool is_new = element >= v * lanes && element < begin + lanes;
    takes_any = takes_any || is_new;
    result += k ? ", i32 " : "i32 ";
    if (is_new) {
      result += fmt::format("{}", lanes + element - begin);
    } else if (element < v * lanes) {
      result += fmt::format("{}", v == 1 ? element : k);
    } else {
      result += "poison";
    }
  }
  return takes_any ? result : std::string();
}

// The offsets from lane 0 are constants, which addresses hold at no cost.
LlvmValue Memory::load_strided() {
  if (place_.run == 0 && place_.step == 2 && place_.read_as == DType::Void)
    return load_every_other();
  if (has_short_steps()) return from_memory(load_short_steps());
  if (llvm_gathers(text_, memory_type())) return from_memory(gather(strided_pointers()));
  return from_memory(load_apart(memory_type(), 1));
}

// Elements one by one, each for a run of lanes.
LlvmValue Memory::load_apart(LlvmType type, std::int64_t run) {
  const std::string base = address(true);
  LlvmValue result{"poison", type};
  for (std::int64_t k = 0; k < type.lanes; k++) {
    const std::string p =
        offset_from(base, fmt::format("i64 {}", place_.offset_of_lane(k * run)), true);
    const LlvmValue one =
        text_.define(type.scalar(), "load {}, ptr {}, align {}", type.scalar().text(), p, size_);
    result = text_.define(type, "insertelement {}, {}, i64 {}", result.text(), one.text(), k);
  }
  return result;
}

// ---- stores -----------------------------------------------------------------------------------

void Memory::store(const LlvmValue& value) {
  text_.forget_loaded();
  const LlvmValue stored = to_memory(value);
  const bool contiguous = place_.contiguous(type_.lanes);
  const bool strided = !contiguous && place_.index.type.lanes == 1;
  if (has_whole_runs()) return store_runs(stored);
  if (strided && !place_.gate && !has_scatter()) return store_strided(stored);
  if (has_one_gate()) return store_behind_one_gate(stored.text());
  if (contiguous && !place_.gate) {
    if (const LlvmTile* tile = text_.tile_of(value.name)) return store_tile(*tile);
    const std::string p = address(true);
    if (place_.past_caches)
      return text_.line("store {}, ptr {}, align 64, !nontemporal !0", stored.text(), p);
    return text_.line("store {}, ptr {}, align {}", stored.text(), p, size_);
  }
  const LlvmArgument where = contiguous ? LlvmArgument("ptr", masked_address())
                             : strided  ? strided_pointers()
                                        : pointers();
  const LlvmArgument arguments[] = {stored, where, alignment(), gate()};
  const std::string name = contiguous
                               ? "masked.store." + suffix("p0")
                               : "masked.scatter." + suffix(fmt::format("v{}p0", type_.lanes));
  text_.line("{}", text_.call("void", name, arguments));
}

void Memory::store_behind_one_gate(const std::string& value) {
  const std::string id = text_.fresh().substr(1);
  text_.line("br i1 {}, label %{}.then, label %{}.end", place_.gate->name, id, id);
  text_.label(id + ".then");
  text_.line("store {}, ptr {}, align {}", value, address(true), size_);
  text_.line("br label %{}.end", id);
  text_.label(id + ".end");
}

// Of a vector that is stored LLVM knows what is loaded of it, which here would come from a second
// store.
void Memory::store_tile(const LlvmTile& tile) {
  const LlvmArgument arguments[] = {{"i16", fmt::format("{}", tile.rows)},
                                    {"i16", fmt::format("{}", tile.bytes)},
                                    {"ptr", address(true)},
                                    {"i64", fmt::format("{}", tile.bytes)},
                                    {"x86_amx", tile.name}};
  text_.line("{}", text_.call("void", "x86.tilestored64.internal", arguments));
}

void Memory::store_runs(const LlvmValue& value) {
  ensure(place_.step == 1, "llvm: lanes store into one place");
  const std::string base = address(true);
  for (std::int64_t k = 0; k < type_.lanes / place_.run; k++) {
    const LlvmValue run = llvm_part(text_, value, k * place_.run, place_.run);
    const std::string p = offset_from(base, fmt::format("i64 {}", k * place_.jump), true);
    text_.line("store {}, ptr {}, align {}", run.text(), p, size_);
  }
}

void Memory::store_strided(const LlvmValue& value) {
  const std::string base = address(true);
  const LlvmType element = value.type.scalar();
  for (std::int64_t k = 0; k < value.type.lanes; k++) {
    const LlvmValue one = text_.define(element, "extractelement {}, i64 {}", value.text(), k);
    const std::string p = offset_from(base, fmt::format("i64 {}", place_.offset_of_lane(k)), true);
    text_.line("store {}, ptr {}, align {}", one.text(), p, size_);
  }
}

// ---- hints ------------------------------------------------------------------------------------

void Memory::prefetch(std::int64_t cache) {
  constexpr std::int64_t of_all_caches = 3;
  // Of what is read; how near; data.
  const LlvmArgument arguments[] = {{"ptr", address(false)},
                                    {"i32", "0"},
                                    {"i32", fmt::format("{}", of_all_caches + 1 - cache)},
                                    {"i32", "1"}};
  text_.line("{}", text_.call("void", "prefetch.p0", arguments));
}

}  // namespace

bool llvm_gathers(const LlvmText& text, LlvmType type) {
  const auto size = static_cast<std::int64_t>(size_of(type.dtype));
  return text.forms().gathers && size >= 4 && type.lanes * size == 64;
}

LlvmValue llvm_load(LlvmText& text, const LlvmPlace& place, std::int64_t lanes) {
  return Memory(text, place, lanes).load();
}

void llvm_prefetch(LlvmText& text, const LlvmPlace& place, std::int64_t cache) {
  Memory(text, place, 1).prefetch(cache);
}

void llvm_store(LlvmText& text, const LlvmPlace& place, const LlvmValue& value) {
  Memory(text, place, value.type.lanes).store(value);
}

}  // namespace croze
