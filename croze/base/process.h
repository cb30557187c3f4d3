// process.h -- the end of the process, and its children.
//
// When main returns or exit is called, other threads go on while static objects and the state of
// libraries are destroyed.  Nothing of croze is destroyed, so what has been computed can be read to
// the very last, and kernels may run.  A compiler or a driver does destroy itself, and a thread
// inside it would crash.  So compiling happens behind a door that is shut first: those inside are
// waited for, a thread that comes later stops for good, and the thread that ends the process gets
// an Error.
//
// A fork leaves the child with one thread and with every lock as it stood.  The child of a process
// of which only the forking thread has used croze may go on using it, with kernels on one thread;
// every other gets an Error at each use.
#pragma once

namespace croze {

// A stay inside of compilers and drivers.
class CompilerStay {
 public:
  // Throws Error on the thread that ends the process; on others, does not return once the process
  // ends.
  CompilerStay();
  ~CompilerStay();
  CompilerStay(const CompilerStay&) = delete;
  CompilerStay& operator=(const CompilerStay&) = delete;
};

// Whether the calling thread is the one that ends the process: what other threads have begun may
// never be done.
bool is_ending_process();
// Throws Error if it is.
void refuse_at_end_of_process();

// Notes that the calling thread uses croze.  Throws Error in a child that must not.
void enter_croze();
// How many forks lie between this process and the one that started croze: threads of another count
// are not here.
int fork_generation();

}  // namespace croze
