// json_value.cpp -- values from JSON.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "croze/base/error.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {
namespace {

// Is told of the text part by part; what is open is a stack.
class ValueMaker : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ValueMaker(const std::string& what) : what_(what) {}

  Value take() { return std::move(result_); }

  bool null() override { return put(Value()); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override {
    check(value <= INT64_MAX, "{}: {} does not fit 64 bits with a sign", what_, value);
    return put(value);
  }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(true); }
  bool key(string_t& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool end_object() override {
    auto dict = std::make_shared<const Dict>(std::move(open_.back().members));
    open_.pop_back();
    return put(std::move(dict));
  }
  bool start_array(std::size_t) override { return open(false); }
  bool end_array() override {
    std::vector<Value> elements = std::move(open_.back().elements);
    open_.pop_back();
    return put(Value::list(std::move(elements)));
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& e) override {
    fail({}, "{}: not valid JSON: {}", what_, std::string(e.what()).substr(0, 200));
  }

 private:
  struct Open {
    bool is_object = false;
    std::vector<Value> elements;
    Dict members;
    std::string key;
  };

  bool open(bool is_object) {
    check(std::ssize(open_) < max_value_depth, "{}: nested more than {} deep", what_,
          max_value_depth);
    open_.push_back({is_object, {}, {}, {}});
    return true;
  }
  bool put(Value value) {
    if (open_.empty()) {
      result_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().members.set(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().elements.push_back(std::move(value));
    }
    return true;
  }

  const std::string& what_;
  std::vector<Open> open_;
  Value result_;
};

}  // namespace

Value Value::parse(std::string_view json, const std::string& what) {
  ValueMaker maker(what);
  nlohmann::json::sax_parse(json, &maker);
  return maker.take();
}

}  // namespace croze::llm::jinja
