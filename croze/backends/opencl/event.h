// event.h -- internal to backends/opencl/: an event that is released by whoever has it last.
#pragma once

#include <utility>

#include "croze/backends/opencl/opencl_library.h"

namespace croze::opencl {

class Event {
 public:
  Event() = default;
  // Takes over what an enqueuing function has made.
  Event(const OpenClLibrary& cl, cl_event event) : cl_(&cl), event_(event) {}
  Event(const Event& other) : cl_(other.cl_), event_(other.event_) {
    if (event_) cl_->retain_event(event_);
  }
  Event(Event&& other) noexcept : cl_(other.cl_), event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event other) noexcept {
    std::swap(cl_, other.cl_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_) cl_->release_event(event_);
  }

  cl_event get() const { return event_; }
  explicit operator bool() const { return event_ != nullptr; }

  // CL_COMPLETE, what it waits for, or, below zero, what it failed with.
  cl_int status() const {
    cl_int status = CL_COMPLETE;
    cl_->get_event_info(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                        nullptr);
    return status;
  }

  // Of a command that is done, of a queue that notes times: adds how long the device was at it.
  cl_int add_seconds(double& seconds) const {
    cl_ulong begin = 0, end = 0;
    cl_int status = cl_->get_event_profiling_info(event_, CL_PROFILING_COMMAND_START, sizeof(begin),
                                                  &begin, nullptr);
    if (status != CL_SUCCESS) return status;
    status =
        cl_->get_event_profiling_info(event_, CL_PROFILING_COMMAND_END, sizeof(end), &end, nullptr);
    seconds += static_cast<double>(end - begin) * 1e-9;
    return status;
  }

 private:
  const OpenClLibrary* cl_ = nullptr;
  cl_event event_ = nullptr;
};

}  // namespace croze::opencl
