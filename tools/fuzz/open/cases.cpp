// cases.cpp -- drawing forms, bounds, edits and sizes.
#include "fuzz/open/cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <limits>

#include "croze/base/hash.h"
#include "croze/codegen/edits/edit.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/analysis/spec.h"
#include "croze/run/observers.h"
#include "fuzz/chance.h"
#include "fuzz/edits.h"
#include "fuzz/launch.h"
#include "fuzz/open/kernels.h"

namespace croze::fuzz {
namespace {

using i64 = std::int64_t;

constexpr i64 no_limit = std::numeric_limits<i64>::max();
constexpr int sizes_of_program = 4;
constexpr i64 most_of_size = 24;

class OpenCase {
 public:
  OpenCase(Device& device, const char* machine, std::uint64_t seed)
      : device_(device), machine_(machine), seed_(seed) {
    Chance chance(seed);
    const auto forms = open_forms();
    form_ = &forms[static_cast<std::size_t>(chance.below(std::ssize(forms)))];
    for (int i = 0; i < form_->sizes; i++) {
      const i64 lo = chance.percent(50) ? 0 : chance.between(1, 6);
      bounds_.push_back(
          {lo, chance.percent(20) ? std::max<i64>(lo, 1) : lo + chance.between(1, most_of_size)});
    }
    kernel_ = open_kernel(*form_, bounds_);
    check_kernel(kernel_.sink);
  }

  std::optional<Mismatch> run(std::uint64_t edits_seed, Counts& counts) {
    const std::string failure = failure_of(edits_seed, no_limit, &counts);
    if (failure.empty()) return {};
    const i64 all = std::ssize(applied_);
    i64 limit = 0;
    while (limit < all && failure_of(edits_seed, limit, nullptr).empty()) limit++;
    const std::string least = failure_of(edits_seed, limit, nullptr);
    std::string code = fmt::format("// {} with sizes", form_->name);
    for (const SizeBounds& b : bounds_) code += fmt::format(" {}..{}", b.lo, b.hi);
    return Mismatch{seed_, fmt::format("{}: {}", machine_, least),
                    fmt::format("{}\n// {}\n", code, to_text(applied_))};
  }

 private:
  std::string failure_of(std::uint64_t edits_seed, i64 limit, Counts* counts) {
    RandomEdits edits(edits_seed, limit);
    std::string failure;
    try {
      failure = wrong_result(edits, edits_seed);
    } catch (const std::exception& e) {
      failure = fmt::format("exception: {}", e.what());
    }
    applied_ = edits.applied();
    if (!counts) return failure;
    (*counts)["sequences"] += edits.sequences();
    (*counts)["sequences of open sizes"] += edits.sequences();
    (*counts)["edits"] += std::ssize(applied_);
    (*counts)["refused edits"] += edits.refused();
    return failure;
  }

  std::string wrong_result(RandomEdits& edits, std::uint64_t edits_seed) {
    const EnvironmentObservers watching;
    const LinearProgram linear = make_program(kernel_.sink, device_.caps(), edits);
    check_program(linear.instructions);
    const std::unique_ptr<Program> program = compile_program(device_, linear);
    Chance chance(hash_mix(seed_, edits_seed));
    for (int i = 0; i < sizes_of_program; i++) {
      std::vector<i64> sizes;
      for (const SizeBounds& b : bounds_) sizes.push_back(size_in(b, chance));
      IntBuffers buffers = open_buffers(*form_, sizes), expected = buffers;
      form_->compute(sizes, expected);
      std::vector<std::span<std::byte>> bytes;
      for (auto& b : buffers) bytes.push_back(std::as_writable_bytes(std::span(b)));
      launch_program(device_, *program, bytes, variables_of(bounds_, sizes));
      if (buffers == expected) continue;
      return fmt::format("{} is wrong for sizes {}", form_->name, fmt::join(sizes, ", "));
    }
    return {};
  }

  // The ends more often than others.
  static i64 size_in(const SizeBounds& b, Chance& chance) {
    if (chance.percent(25)) return b.lo;
    return chance.percent(30) ? b.hi : chance.between(b.lo, b.hi);
  }

  Device& device_;
  const char* machine_;
  std::uint64_t seed_;
  const OpenForm* form_;
  std::vector<SizeBounds> bounds_;
  OpenKernel kernel_;
  std::vector<Edit> applied_;
};

}  // namespace

std::optional<Mismatch> open_edits_case(Device& device, const char* machine, std::uint64_t seed,
                                        std::uint64_t sequences, Counts& counts) {
  OpenCase open(device, machine, seed);
  for (std::uint64_t i = 0; i < sequences; i++) {
    if (auto mismatch = open.run(hash_mix(seed, i), counts)) return mismatch;
  }
  return {};
}

}  // namespace croze::fuzz
