# Read by ctest: what every test runs with.

# The runtime guesses where a loaded library's thread-local variables lie, and at exit may read a
# wrong address.  Without the guess it finds them as the heap blocks that they are.
# memmem() is not intercepted: all of the text is looked at before each search, so that finding the
# matches of a long one takes quadratic time.
# That nothing uses the variables of functions that have returned would take a tenth more time.
set(ENV{ASAN_OPTIONS} "intercept_tls_get_addr=0:intercept_memmem=0:detect_stack_use_after_return=0:$ENV{ASAN_OPTIONS}")
set(ENV{TSAN_OPTIONS} "suppressions=${CMAKE_CURRENT_LIST_DIR}/tsan.suppressions:$ENV{TSAN_OPTIONS}")
set(ENV{LSAN_OPTIONS} "suppressions=${CMAKE_CURRENT_LIST_DIR}/lsan.suppressions:print_suppressions=0:$ENV{LSAN_OPTIONS}")
