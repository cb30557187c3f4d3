// softmax_page.cpp -- writes docs/softmax.md: one softmax on its way from tensor code to C, with
// the real text at each stage.
//
// Nothing depends on the machine that runs this: the kernel is compiled for a device made up here,
// and rendered as C.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "croze/base/error.h"
#include "croze/codegen/edits/edit.h"
#include "croze/codegen/pipeline.h"
#include "croze/croze.h"
#include "croze/graph/observer.h"
#include "croze/graph/text/print.h"
#include "croze/render/c_family/c.h"
#include "croze/schedule/schedule.h"
#include "croze/tensor/record.h"

namespace {

using namespace croze;

// A CPU of one thread with 32-byte vectors.
const Caps& device_caps(int) {
  static const Caps caps = [] {
    Caps c;
    c.device = "EXAMPLE";
    c.ops = CRenderer::ops();
    c.dtypes = c.storage = CRenderer::dtypes();
    c.vector_bytes = 32;
    c.masked_vectors = true;
    return c;
  }();
  return caps;
}

// `text` is a raw string that begins with a newline.
void section(const char* title, const char* text) { fmt::print("\n## {}\n{}", title, text); }

void block(const char* language, const std::string& text) {
  fmt::print("\n```{}\n{}{}```\n", language, text, text.ends_with('\n') ? "" : "\n");
}

// The stores of a kernel, each as an expression.
std::string expressions(UOp sink) {
  std::string text;
  for (UOp store : sink.sources()) text += to_string(store) + "\n";
  return text;
}

// ---- passes -----------------------------------------------------------------------------------

struct Pass {
  std::string name, graph, expression;
};

struct Passes {
  std::vector<Pass> list;
  std::vector<std::string> edits;

  const Pass& operator[](const std::string& name) const {
    for (const Pass& pass : list) {
      if (pass.name == name) return pass;
    }
    fail_internal({}, "there is no pass '{}'", name);
  }
};

class KeepPasses : public CompileObserver {
 public:
  explicit KeepPasses(Passes& passes) : passes_(passes) {}
  void left(CompilePart, std::string_view name, UOp sink) override {
    passes_.list.push_back({std::string(name), print_graph(sink), expressions(sink)});
  }
  void edited(std::string_view edits) override {
    for (const Edit& edit : parse_edits(edits)) passes_.edits.push_back(to_text(edit));
  }

 private:
  Passes& passes_;
};

// ---- the page ---------------------------------------------------------------------------------

constexpr const char* introduction = R"(# One softmax, from tensor to C

The stages of [architecture.md](architecture.md), with the real text at each.  This page is written
by `tests/docs/softmax_page.cpp`, and a test compares the two; `make docs` writes it anew.

Of a program of yours, `CROZE_DEBUG=5` prints each kernel after each pass, and its source.
)";

constexpr const char* about_code = R"(
The rows are short so that the page is.  Nothing is computed yet: `softmax` records nodes.
)";

constexpr const char* about_graph = R"(
A node a line: number, op, dtype, sources, argument.  The maximum is subtracted before `exp`, and
`detach` keeps the gradient out of it.  Equal nodes are one node: `exp` stands once and is used
twice.  The argument of a reduction is the number of its op ({} is max, {} is add), then the axes;
that of a buffer is its number, its elements and its device.
)";

constexpr const char* about_schedule = R"(
One kernel.  Both reductions vary over the row only, so they belong inside the loop over rows, and
what is made of them follows in a second loop over the row.  Movement has become index arithmetic: a loop is
a value (`r0` the row, `r1` the column, `r2` and `r3` the loops of the reductions), a place in memory
is an expression over loops, and `p0`, `p1` are the parameters of the kernel.  The kernel is one
store, which closes the loops named last:
)";

constexpr const char* about_edits = R"(
How each loop is run is decided by edits, chosen from the capabilities of the device: here one
thread, and vectors of 32 bytes.
)";

constexpr const char* about_expand = R"(
A reduction becomes a register: a store of the identity, an update in a loop, a load after it, and
at last a `reduce` of the lanes.  `after` says which stores a read comes after; it is all the order
there is.
)";

constexpr const char* about_program = R"(
Index arithmetic has got a sized type, and `exp`, which C's vectors do not have, is arithmetic.  The
graph is now a list of instructions in loops; everything stands in the outermost loop it can.  A
value that varies over a `lane` range is a vector, any other a scalar.
)";

constexpr const char* about_source = R"(
The C renderer's text of that list.  The LLVM renderer writes IR of the same list.
)";

void write_page() {
  fmt::print("{}", introduction);
  section("Tensor code", about_code);
  block("cpp",
        "Tensor x = Tensor::zeros({7, 56}).realize();\n"
        "Tensor y = softmax(x, 1);");
  const Tensor x = Tensor::zeros({7, 56}).realize();
  const Tensor y = softmax(x, 1);

  const CanonicalGraph graph = [&] {
    const GraphLock lock;
    const UOp roots[] = {TensorRecord::of(y).node};
    return canonical_graph(roots);
  }();
  section("Graph", fmt::format(fmt::runtime(about_graph), static_cast<int>(Op::Max),
                               static_cast<int>(Op::Add))
                       .c_str());
  block("", print_graph(graph.roots));

  const Schedule schedule = make_schedule(graph, {device_caps, 0});
  ensure(schedule.steps.size() == 1, "softmax has become {} kernels", schedule.steps.size());
  const UOp kernel = schedule.steps[0].kernel->sink;
  section("Schedule", about_schedule);
  block("", expressions(kernel));

  Passes passes;
  KeepPasses keep(passes);
  const Observing observing(keep);
  const LinearProgram program = make_program(kernel, device_caps(0));
  section("Edits", about_edits);
  block("", fmt::format("{}\n", fmt::join(passes.edits, "\n")));
  fmt::print("\nThe kernel after them:\n");
  block("", passes["edits"].expression);
  section("Expanded", about_expand);
  block("", passes["expand"].graph);
  section("Linear program", about_program);
  block("", print_program(program));
  section("Source", about_source);
  block("c", CRenderer().render(program));
}

}  // namespace

int main() {
  try {
    write_page();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "softmax_page: %s\n", e.what());
    return 1;
  }
}
