// launch.h -- running linear programs without caches, queues or the table of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "croze/device/device.h"
#include "croze/render/program.h"

namespace croze::fuzz {

// Renders, compiles and loads.
std::unique_ptr<Program> compile_program(Device& device, const LinearProgram& program);

// Runs a program once and waits.  Each buffer is copied to the device and back; it starts at a byte
// offset in its memory that is a multiple of the device's alignment.
void launch_program(Device& device, Program& program, std::span<const std::span<std::byte>> buffers,
                    std::span<const std::int64_t> variables = {});

// Compiles it and does so.
void run_program(Device& device, const LinearProgram& program,
                 std::span<const std::span<std::byte>> buffers,
                 std::span<const std::int64_t> variables = {});

}  // namespace croze::fuzz
