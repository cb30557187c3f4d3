#include "serve/access.h"

#include <gtest/gtest.h>

namespace croze::tool {
namespace {

TEST(Access, KeysAreEqualOrNot) {
  EXPECT_TRUE(has_key("Bearer secret", "secret"));
  for (const char* wrong : {"", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets",
                            "bearer secret", "Basic secret", "Bearer Secret"}) {
    EXPECT_FALSE(has_key(wrong, "secret")) << wrong;
  }
  EXPECT_FALSE(has_key(std::string_view("Bearer secret\0", 14), "secret"));
}

TEST(Access, HostsOfThisMachine) {
  EXPECT_EQ(host_of("localhost:8080"), "localhost");
  EXPECT_EQ(host_of("http://[::1]:8080"), "[::1]");
  EXPECT_EQ(host_of("https://example.org"), "example.org");
  for (const char* local : {"localhost", "127.0.0.1", "[::1]", "::1"}) EXPECT_TRUE(is_local(local));
  for (const char* far : {"", "example.org", "127.0.0.1.example.org", "0.0.0.0", "localhosts"}) {
    EXPECT_FALSE(is_local(far)) << far;
  }
}

}  // namespace
}  // namespace croze::tool
