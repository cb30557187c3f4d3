// listening.h -- a server of cpp-httplib that listens on a thread of its own.
#pragma once

#include <httplib.h>

#include <atomic>
#include <thread>

namespace croze::tool {

class Listening {
 public:
  // The server has a port already, and outlives this.
  explicit Listening(httplib::Server& server)
      : server_(server), thread_([this] {
          server_.listen_after_bind();
          has_ended_ = true;
        }) {}
  ~Listening() { stop(); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  // Returns once all that was begun is answered.  May be called again.
  void stop() {
    if (!thread_.joinable()) return;
    // The library does not stop what has not begun, and the thread may not have come to that.
    while (!server_.is_running() && !has_ended_) std::this_thread::yield();
    server_.stop();
    thread_.join();
  }

 private:
  httplib::Server& server_;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

}  // namespace croze::tool
