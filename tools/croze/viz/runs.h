// runs.h -- the event files below a folder, as they grow, for the page of runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "croze/log/event_file.h"

namespace croze::tool {

class RunFolder {
 public:
  // Throws Error if there is no such folder.
  explicit RunFolder(std::string folder);

  // The events from number `from` on, of those that have been written by now, in the order in which
  // they were found: one object as viz/page/src/events.ts describes it, which says whether there
  // are more.  Thread-safe.
  std::string events(std::int64_t from);
  // All of them.
  std::string all_events();

 private:
  struct File {
    std::size_t run = 0;
    std::unique_ptr<logs::EventFile> reader;  // none where the file cannot be read
  };
  struct Entry {
    std::size_t run = 0;
    logs::Event event;
  };

  void find_files();
  void read_files();
  std::string text_of(std::int64_t from, std::int64_t end) const;
  void add_fault(std::string text);

  std::mutex mutex_;
  std::string folder_;
  std::map<std::string, File> files_;  // by path
  std::vector<std::string> runs_, faults_;
  std::vector<Entry> entries_;
  bool may_be_more_ = false;
};

}  // namespace croze::tool
