// state.cpp -- the parts of state.h that do not depend on the type of the model.
#include "croze/nn/state.h"

#include <map>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/tensor/print.h"
#include "croze/tensor/record.h"
#include "croze/tensor/storage.h"

namespace croze {

std::string name_in(const StateDict& tensors, const Tensor& tensor) {
  for (const NamedTensor& t : tensors) {
    if (&TensorRecord::of(t.tensor) == &TensorRecord::of(tensor)) return t.name;
  }
  return {};
}

}  // namespace croze

namespace croze::nn::detail {

StateDict named(const std::vector<StateEntry>& entries, bool only_trained) {
  StateDict dict;
  for (const StateEntry& e : entries) {
    bool listed = only_trained && !e.trained;
    for (const NamedTensor& before : dict) listed = listed || before.tensor.is_same(e.tensor);
    if (listed) continue;
    name_memory(e.tensor, e.name);
    dict.push_back({e.name, e.tensor});
  }
  return dict;
}

void check_some(const std::vector<StateEntry>& entries, std::string_view function, Location at) {
  check(!entries.empty(), at, "{}: the model has members, but no tensor is found among them",
        function);
}

std::vector<Tensor> tensors_of(const StateDict& dict) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& t : dict) tensors.push_back(t.tensor);
  return tensors;
}

void load(const std::vector<StateEntry>& entries, const StateDict& dict, bool strict, Location at) {
  const CallScope scope("load_state_dict", at);
  check_some(entries, "load_state_dict", at);
  std::map<std::string_view, const Tensor*> values;
  for (const NamedTensor& t : dict) {
    const bool is_new = values.emplace(t.name, &t.tensor).second;
    check(is_new || !strict, at, "load_state_dict: the name {} stands twice", t.name);
  }
  std::vector<std::pair<Tensor, const Tensor*>> assignments;
  for (const NamedTensor& target : named(entries, false)) {
    const auto it = values.find(target.name);
    check(it != values.end() || !strict, at, "load_state_dict: there is no tensor {} for the model",
          target.name);
    if (it == values.end()) continue;
    const Shape expected = target.tensor.shape(), found = it->second->shape();
    check(expected == found, at, "load_state_dict: {} has shape {}, where the model has {}",
          target.name, found, expected);
    assignments.emplace_back(target.tensor, it->second);
    values.erase(it);
  }
  check(values.empty() || !strict, at, "load_state_dict: the model has no tensor {}",
        values.empty() ? "" : values.begin()->first);

  std::vector<Tensor> assigned;
  for (auto& [target, value] : assignments) {
    const bool moved = value->device_index() >= 0 && value->device() != target.device();
    const Tensor here = moved ? value->to(target.device()) : *value;
    assigned.push_back(target.assign(here.detach()));
  }
  realize(assigned);
}

}  // namespace croze::nn::detail
