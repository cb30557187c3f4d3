#include "croze/run/trace/trace.h"

#include <utility>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/run/trace/recorder.h"

namespace croze {

Trace::~Trace() {
  try {
    finish();
  } catch (const Error& error) {
    log_warning(error.message());
  }
}

void Trace::finish() {
  if (!path_.empty()) tracing::stop(std::exchange(path_, {}));
}

Trace trace(const std::string& path, const TraceOptions& options, std::source_location at) {
  const CallScope scope("trace", at);
  check(!path.empty(), "a trace needs the name of a file");
  tracing::start(path, options);
  return Trace(path);
}

}  // namespace croze
