// graphs.cpp -- the whole corpus as one list.
#include "corpus/graphs.h"

#include "corpus/traces.h"

namespace croze::corpus {

std::vector<CorpusGraph> graphs() {
  std::vector<CorpusGraph> list;
  for (const Workload& w : workloads()) list.push_back({std::string(w.name), w.prepare});
  list.push_back({"trace_matmul", [] { return trace_matmul; }});
  list.push_back({"trace_block", [] { return trace_block; }});
  list.push_back({"trace_resnet18", [] { return trace_resnet18; }});
  return list;
}

}  // namespace croze::corpus
