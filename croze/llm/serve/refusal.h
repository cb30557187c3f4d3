// refusal.h -- what a server answers to a request that it does not serve, in OpenAI's form.
#pragma once

#include <string>
#include <string_view>

#include "croze/base/error.h"

namespace croze::llm::serve {

// An Error with the status of HTTP that says whose doing it is.
class Refusal : public Error {
 public:
  // `field` is the member of the request that is wrong, if it is one; `code` a word for programs.
  Refusal(int status, const std::string& message, std::string field = {}, std::string code = {});

  int status() const { return status_; }
  const std::string& field() const { return field_; }
  const std::string& code() const { return code_; }

 private:
  int status_;
  std::string field_, code_;
};

// {"error": {"message": .., "type": .., "param": .., "code": ..}}
std::string error_body(int status, std::string_view message, std::string_view field = {},
                       std::string_view code = {});
std::string error_body(const Refusal& refusal);

}  // namespace croze::llm::serve
