// registry.h -- internal to tensor/: the default tensor graph and the list of live tensors.
//
// Why a registry: the graph is collected from the live tensors; and storing into the memory of a
// tensor must first compute every live tensor that still wants the old contents.
#pragma once

#include <mutex>
#include <vector>

#include "base/flat_map.h"
#include "graph/graph.h"
#include "tensor/record.h"

namespace croze {

class Registry {
 public:
  static Registry& instance();

  void add(TensorRecord& record);
  void remove(TensorRecord& record);
  // Gives the tensor another node; `owns`: it is the only one to write the node's Buffer.
  void set_node(TensorRecord& record, UOp node, bool owns);

  // Computes the tensors and whatever must be computed with them.
  void realize(std::span<TensorRecord* const> records);

  // Lets every tensor know what has been computed so far, and starts afresh.
  void settle_values();
  // The same after memory was overwritten: how tensors were computed from it holds no longer.
  void forget_the_past();

  // Gradients through what was recorded, whether it has been computed since or not.
  std::vector<UOp> gradient(UOp loss, std::span<const UOp> targets);

  // The live tensors that are more than a Buffer of their own: views, recorded operations, and
  // owners with a store that has not happened yet.
  std::vector<Tensor> dependents();

  std::recursive_mutex mutex;
  Graph graph;
  bool recording = false;  // a step is being captured: realize() throws Error

 private:
  struct Batch;  // what is realized at once

  Registry();
  void link(TensorRecord& list, TensorRecord& record);
  void unlink(TensorRecord& record);
  bool is_settled(const TensorRecord& record) const;
  std::vector<UOp> resolve(std::span<const UOp> roots);
  template <typename F>
  void for_each_record(F f);
  void collect_if_grown();
  void collect();
  void add_readers(Batch& batch);
  std::vector<TensorRecord*> readers_of(const FlatSet<const Node*>& written, const Batch& batch);
  void run(Batch& batch);

  TensorRecord settled_;  // heads of the two rings
  TensorRecord dependents_;
  FlatMap<const Node*, UOp> values_;  // computed nodes, and where their values stand
  std::size_t nodes_kept_ = 0;        // after the last collection
  std::int64_t bytes_kept_ = 0;
};

// The Buffer of a chain of Reshapes; null if the node is anything else.
UOp storage_of(UOp node);
// Whether the node reaches a Buffer.
bool reads_memory(UOp node);

}  // namespace croze
