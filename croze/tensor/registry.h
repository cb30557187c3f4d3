// registry.h -- internal to tensor/: the default tensor graph and the list of live tensors.
//
// Why a registry: the graph is collected from the live tensors; and storing into the memory of a
// tensor must first compute every live tensor that still wants the old contents.
#pragma once

#include <optional>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/base/function_ref.h"
#include "croze/graph/graph.h"
#include "croze/run/buffers.h"
#include "croze/tensor/given_gradients.h"
#include "croze/tensor/graph_mutex.h"
#include "croze/tensor/past.h"
#include "croze/tensor/record.h"
#include "croze/tensor/views.h"

namespace croze {

class BoundRun;
struct Explanation;
class PreparedRun;

class Registry {
 public:
  using Nodes = FlatSet<const Node*>;

  static Registry& instance();

  void add(TensorRecord& record);
  void remove(TensorRecord& record);
  // Gives the tensor another node; `owns`: it is the only one to write the node's Buffer.
  void set_node(TensorRecord& record, UOp node, bool owns);
  // The tensor, which is no view, is about to be assigned to.
  void leave_contents(TensorRecord& record, Location by);

  // Computes the tensors and whatever must be computed with them.  Takes the lock, and lets go of
  // it while it compiles and launches; a caller who holds the lock keeps it.
  void realize(std::span<TensorRecord* const> records);

  // What that would do.
  Explanation explain(std::span<TensorRecord* const> records);

  // Lets every tensor know what has been computed so far.
  void settle();
  // Computes anew what is recorded anew, though it was computed before.
  void forget_values();
  // Frees memory that no tensor can see, when enough may have come together.  Nodes stay.
  void free_unseen_if_worthwhile();
  // That, and collect() where it is time.  realize() does it; who launches without it, too.
  void tidy();
  // Frees all memory and nodes that no tensor needs.  It is done by itself when graph or memory has
  // doubled, and changes no value and no gradient.
  void collect();
  // Whether the graph has doubled since.
  bool has_grown() const { return graph.size() > most_nodes_; }

  // How what stands in memory came about, for gradients; and the tensor as what one is asked by.
  const Past& past() const { return past_; }
  static Past::Target target_of(const TensorRecord& record);
  // The value of a tensor, its own memory, was computed without being recorded, as a node says that
  // is made from what stands for the value.  That cannot be computed again.
  void computed_as(TensorRecord& record, function_ref<UOp(UOp value)> history);
  // Gradients end at the computed tensor from now on.
  void forget_past(TensorRecord& record);

  // For memory that is written without a graph: before it, computes every tensor that reads the
  // Buffers; after it, gives their owners the new contents, at whose written parts gradients end.
  struct Overwritten {
    TensorRecord* owner;
    std::span<const MemoryPart> parts;  // none: all
  };
  void compute_readers(const Nodes& buffers);
  void overwritten(std::span<const Overwritten> all);
  // Gradients end at these parts of a computed tensor from now on.  `before`: the Buffer of what it
  // held before they were written.
  void forget_past_of_parts(const Overwritten& written, UOp before);

  // Takes the value of a tensor from it: whoever uses the tensor from now on gets an Error that
  // names the place.  With its memory, which is its own and holds other contents then: returns the
  // Buffer of those, for the tensor that they are of.
  void end_value(TensorRecord& record, Location by);
  UOp take_memory(TensorRecord& record, Location by);

  // The live tensors that are more than a Buffer of their own: views, recorded operations, and
  // owners with a store that has not happened yet.
  std::vector<Tensor> dependents();
  // The tensors that own the Buffers, in order; one that nobody owns gets a new tensor.
  std::vector<Tensor> owners_of(std::span<const UOp> buffers);

  GraphMutex mutex;
  Graph graph;
  SpareBuffers spare;  // of unshared tensors that are gone, for what captured steps return
  GivenGradients given;

 private:
  struct Batch;  // what is realized at once

  Registry();
  void give_away(TensorRecord& record, Location by);
  void link(TensorRecord& list, TensorRecord& record);
  void unlink(TensorRecord& record);
  bool is_settled(const TensorRecord& record) const;
  bool is_seen_in_memory(const TensorRecord& record) const;
  void replace_node(TensorRecord& record, UOp node, bool owns);
  void leave(UOp buffer, bool is_borrowed);
  std::vector<UOp> resolve(std::span<const UOp> roots);
  void settle_records();
  void settle_past();
  template <typename F>
  void for_each_record(F f);
  template <typename Condition>
  void drop_values(Condition condition);
  void collect_if_grown();
  Past::Nodes free_unseen();
  void add_readers(Batch& batch);
  std::vector<TensorRecord*> readers_of(const Nodes& written, const Batch& batch);
  Batch batch_of(std::span<TensorRecord* const> records);
  std::vector<UOp> roots_of(const Batch& batch);
  void realize_watched(const Batch& batch, std::span<const UOp> roots);
  BoundRun bind(const Batch& batch, std::span<const UOp> roots, const PreparedRun& prepared);
  FlatMap<const Node*, UOp> renamed(const Nodes& written);
  UOp rename(UOp buffer, Location by);

  std::int64_t tensors_made_ = 0;
  TensorRecord settled_;  // heads of the two rings
  TensorRecord dependents_;
  Past past_;
  FlatMap<const Node*, UOp> values_;  // computed nodes, and where their values stand
  bool is_unsettled_ = false;         // tensors may not know of them yet
  // A collection costs a pass over the graph, so it waits until graph or memory has doubled.
  static constexpr std::size_t nodes_grown = 20'000;
  std::size_t most_nodes_ = nodes_grown;
  std::int64_t bytes_kept_ = 0;

  // Buffers without an owner, which recorded work may still read, and what may be freed of them.
  Nodes orphans_;
  std::int64_t bytes_left_ = 0;      // by owners, since memory was last freed
  std::int64_t bytes_orphaned_ = 0;  // and still seen, when memory was last freed
  bool is_any_dropped_ = false;      // tensor, since then
  std::int64_t nodes_seen_ = 0;      // then
};

// While one lives, the thread that made it captures a step: realize() throws Error there, but, if
// that is said, for what does not depend on stand-ins.  They nest, and the innermost one counts.
class Capturing {
 public:
  enum class Computes { Nothing, Constants };

  // `inputs` have other values in each run, as stand-ins have; they stay alive.
  explicit Capturing(Computes computes = Computes::Nothing, std::span<const Tensor> inputs = {});
  ~Capturing();
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;

  static bool is_active();  // on the calling thread
  // Whether the calling thread may compute the tensor now.
  static bool may_compute(const Tensor& t);
  // Whether the value of the tensor follows from an input of the step that it captures.
  static bool reads_input(const Tensor& t);

 private:
  struct Mode {
    Computes computes;
    std::span<const Tensor> inputs;
  };
  static thread_local std::optional<Mode> mode_;
  std::optional<Mode> around_;  // of the one that this one stands in
};

}  // namespace croze
