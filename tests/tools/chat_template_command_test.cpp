// croze chat-template: conversations to texts.
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

using ChatTemplateCommand = Command;

TEST_F(ChatTemplateCommand, PrintsTheTextOfAConversation) {
  const std::string chat = file("chat.jinja",
                                "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
                                "{{ tools | length if tools }}{{ mode }}"
                                "{% if add_generation_prompt %}>{% endif %}");
  const std::string messages = file("messages.json", R"([{"role": "user", "content": "\u00e9"}])");
  const Outcome plain = run("chat-template " + chat + " --messages " + messages);
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(plain.out, "user: \u00e9\n");
  const Outcome all = run("chat-template " + chat + " --messages " + messages + " --tools " +
                          file("tools.json", "[{}, {}]") + " --variables " +
                          file("v.json", R"({"mode": "fast"})") + " --generation-prompt --json");
  ASSERT_EQ(all.status, 0) << all.err;
  EXPECT_EQ(Json::parse(all.out)["text"], "user: \u00e9\n2fast>");
  EXPECT_EQ(Json::parse(all.out)["templates"], Json::array({"default"}));
}

TEST_F(ChatTemplateCommand, SaysWhatIsWrong) {
  const std::string chat = file("chat.jinja", "\n{{ messages[0].x.y }}");
  const std::string messages = file("messages.json", "[{}]");
  expect_error(run("chat-template " + chat + " --messages " + messages), "line 2, column 17");
  expect_error(run("chat-template " + chat + " --messages " + file("bad.json", "[")), "bad.json");
  expect_error(run("chat-template " + path("none") + " --messages " + messages), "none");
}

}  // namespace
}  // namespace croze
