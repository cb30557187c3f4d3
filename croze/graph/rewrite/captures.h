// captures.h -- the alphabet of rules: one letter, one meaning, in every rule file.
#pragma once

#include "croze/graph/rewrite/rule.h"

namespace croze::captures {

// Any node.
inline constexpr Any x{'x'}, y{'y'}, z{'z'}, w{'w'};
inline constexpr Any b{'b'};  // a buffer
inline constexpr Any n{'n'};  // a named inner node

// A boolean.
inline constexpr Bool a{'a'}, g{'g'}, h{'h'};  // a: any; g, h: gates

// An integer constant; a constant of any dtype.
inline constexpr Int c{'c'}, d{'d'}, e{'e'}, f{'f'};
inline constexpr Const k{'k'}, l{'l'};

// The remaining sources.
inline constexpr Rest r{'r'};

}  // namespace croze::captures
