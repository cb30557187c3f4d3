// onnx_page.cpp -- croze docs onnx: what croze does of ONNX, and where it differs.
#include "onnx_page.h"

#include <croze/io/onnx/operator.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "onnx_drawn.h"
#include "onnx_known.h"

namespace croze::tool {
namespace {

constexpr const char* introduction = R"(# ONNX

`croze::onnx::Model` (`croze/io/onnx/model.h`) runs models written in the opsets 7 to 25 of ONNX;
`croze info MODEL.onnx` says what a model is made of, and `croze run MODEL.onnx --input name=x.npy`
runs it.  On a CPU weights stay in the mapped file; they are copied only where they are not aligned.
Files are not trusted: every length is checked, and external data must be a regular file in the
model's folder.

* **Types**: bool, int2 to int64, uint2 to uint64, float4e2m1, fp8 (all four, and float8e8m0),
  float16, bfloat16, float32 and float64; sequences and optionals of them; texts in the operators
  that need them.  Types of 2 and 4 bits take a byte an element once they are read, float8e8m0 two.
  Complex numbers are refused.
* **Sizes** that a model leaves open are taken from the inputs of a run; a second run of the same
  sizes launches what the first has recorded.  Where the program bounds them (`Model(path, sizes)`),
  they are compiled once for all within the bounds; else each list of sizes for itself, and from the
  fourth on for all up to 16384.
* **Memory**: a run that needs more than `CROZE_MEMORY_LIMIT` (or `--memory-limit`) allows is an
  error before anything is allocated, and so is one whose texts do.
* **Patterns** (`RegexFullMatch`) have the syntax of RE2 and are matched by PCRE2.  A match that
  takes too long, which RE2 does not know, is an error.
* **Pictures** (`ImageDecoder`) are read in PNG, JPEG, TIFF, WebP, JPEG 2000, BMP and PPM, where croze
  was built with the libraries (`croze/io/image.h`).
* **Control flow**: `If`, `Loop` and `Scan` run their graphs; functions of the model are called.

`croze docs onnx` writes this page from the code, and a test compares the two.
)";

constexpr const char* about_tests = R"(
## Recorded tests

`croze onnx-conformance DIR` runs the tests that the ONNX project records (Debian has them in
`libonnx-testdata`) and compares with a relative tolerance of 1e-3 and an absolute one of 1e-7, as
ONNX's own runner does.  It fails if a test does not pass that is not listed here.  All whole
networks of `light` and all of `simple`, `pytorch-converted` and `pytorch-operator` pass.  Of the
{} node tests of version {} {} pass, of the {} of version {} {}.

{} of either, of Bernoulli and of dropout, are compared otherwise.  They draw at random, and the
recording is one draw of NumPy's generator, which no operator's definition names: ONNX's test of its
own reference leaves Bernoulli out for that, and onnxruntime's dropout draws otherwise too.  What is compared
is what is defined: type and shape, the values that may come, that a mask tells what was dropped, and
over 64 runs how often each came, within five standard deviations.  The attribute `seed` is not
looked at; `manual_seed` makes a program's draws the same each time.

These do not pass:

| test | versions | why |
|---|---|---|
)";

// The rows of one domain: operator and the opsets from which on there is a meaning of it.
void print_operators(std::string_view domain) {
  std::vector<std::pair<std::string_view, std::string>> rows;
  for (const onnx::Operator& op : onnx::all_operators()) {
    if (op.domain != domain) continue;
    if (rows.empty() || rows.back().first != op.name) {
      rows.emplace_back(op.name, std::to_string(op.since));
    } else {
      rows.back().second += fmt::format(", {}", op.since);
    }
  }
  fmt::print("\n### {}: {} operators\n\n", domain.empty() ? "ai.onnx" : domain, rows.size());
  fmt::print("| operator | from opset |\n|---|---|\n");
  for (const auto& [name, versions] : rows) fmt::print("| {} | {} |\n", name, versions);
}

int num_passing(const NodeTests& tests, bool KnownDifference::*in_version) {
  return tests.count - static_cast<int>(std::ranges::count(known_differences(), true, in_version));
}

void print_tests() {
  const NodeTests &before = old_node_tests, &after = new_node_tests;
  fmt::print(fmt::runtime(about_tests), before.count, before.version,
             num_passing(before, &KnownDifference::in_old), after.count, after.version,
             num_passing(after, &KnownDifference::in_new), num_drawn_tests());
  for (const KnownDifference& k : known_differences()) {
    const std::string_view versions = !k.in_new   ? before.version
                                      : !k.in_old ? after.version
                                                  : "both";
    fmt::print("| {} | {} | {} |\n", k.test, versions, k.reason);
  }
}

}  // namespace

void print_onnx_page() {
  fmt::print("{}", introduction);
  print_tests();
  fmt::print("\n## Operators\n\n");
  fmt::print("Each has the meaning that the model's opset gives it.\n");
  std::string_view last = "none";
  for (const onnx::Operator& op : onnx::all_operators()) {
    if (op.domain != last) print_operators(op.domain);
    last = op.domain;
  }
}

}  // namespace croze::tool
