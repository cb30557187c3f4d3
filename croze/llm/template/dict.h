// dict.h -- dictionaries: values by key, in the order in which the keys came.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

class Dict {
 public:
  using Member = std::pair<Value, Value>;

  // Sets a key, which keeps its place if it is there.  Throws Error for a key that has no hash, a
  // list or a dict, and if the dict nests too deep.
  void set(Value key, Value value);

  // Null if there is none.
  const Value* find(const Value& key) const;
  const Value* find_name(std::string_view key) const;

  const std::vector<Member>& members() const { return members_; }
  int depth() const { return depth_; }

 private:
  const Value* at(const std::optional<std::string>& form) const;

  std::vector<Member> members_;
  std::unordered_map<std::string, std::size_t> places_;  // of members, by hashed_form
  int depth_ = 1;
};

}  // namespace croze::llm::jinja
