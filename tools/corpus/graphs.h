// graphs.h -- the whole corpus as one list, for what looks at graphs and runs none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "corpus/workloads.h"

namespace croze::corpus {

struct CorpusGraph {
  std::string name;                      // that of a file, too
  std::function<Computation()> prepare;  // makes what it reads
  bool reads_data = false;               // while it is recorded, so the data must be there
};

// The workloads under their names, and those of traces.h as "trace_matmul" and so on.
std::vector<CorpusGraph> graphs();

// As "onnx_NAME", in the order of their names, the models of a folder whose inputs have fixed
// shapes; none if there is no such folder.
std::vector<CorpusGraph> onnx_graphs(const std::string& folder);
inline bool is_onnx_graph(const std::string& name) { return name.starts_with("onnx_"); }

}  // namespace croze::corpus
