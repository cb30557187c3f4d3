// chat_template_target.cpp -- libFuzzer: any text is a template, which prints a conversation, or an
// Error.
#include "croze/base/error.h"
#include "croze/llm/template/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croze::llm;
  static const jinja::Value messages = jinja::Value::parse(
      R"([{"role": "system", "content": "s"}, {"role": "user", "content": " a\nb "},)"
      R"({"role": "assistant", "content": null, "tool_calls": [{"function":)"
      R"({"name": "f", "arguments": {"x": 1.5, "y": [true, "z"]}}}]}])");
  ChatInput input;
  input.messages = messages;
  input.tools = jinja::Value::list({messages});
  input.add_generation_prompt = true;
  input.limits.steps = 100'000;
  input.limits.bytes = 16 << 20;
  try {
    ChatTemplate::from_source({reinterpret_cast<const char*>(data), size}).render(input);
  } catch (const croze::Error&) {
  }
  return 0;
}
