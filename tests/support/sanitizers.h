// sanitizers.h -- whether the address or the thread sanitizer is on.  Both have the place of
// malloc, and keep for a while what is freed.
#pragma once

#if defined(__has_feature)
#define CROZE_HAS_FEATURE(name) __has_feature(name)  // clang
#else
#define CROZE_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || CROZE_HAS_FEATURE(address_sanitizer)
#define CROZE_ASAN 1
#else
#define CROZE_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || CROZE_HAS_FEATURE(thread_sanitizer)
#define CROZE_TSAN 1
#else
#define CROZE_TSAN 0
#endif
