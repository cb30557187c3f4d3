// Whatever the compiler is asked for elsewhere is C without a warning, too.
#include <croze/croze.h>

#include "corpus/graphs.h"
#include "croze/base/options.h"
#include "exported.h"
#include "support/corpus_step.h"

namespace croze {
namespace {

using namespace croze::test;

class Corpus : public ExportTest {};
INSTANTIATE_TEST_SUITE_P(Compilers, Corpus, testing::Values("gcc", "clang"), compiler_name);

// Nothing is run, here or there: what a step starts with does not matter.
TEST_P(Corpus, EveryGraphCompilesWithoutAWarning) {
  for (const corpus::CorpusGraph& graph : corpus::graphs()) {
    if (graph.name.starts_with("trace_")) continue;  // makes inside what it assigns to
    SCOPED_TRACE(graph.name);
    const Options::Scope nowhere{{Option::Device, graph.reads_data ? "CPU" : "NULL"},
                                 {Option::Cache, false}};
    const corpus::Computation compute = graph.prepare();
    Step step;
    run_as_step(step, compute);
    export_c(step, out(), {.name = "graph", .embed_weights = false});
    compile_alone("graph");
  }
}

}  // namespace
}  // namespace croze
