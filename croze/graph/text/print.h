// print.h -- the text forms of graphs, and the reader of one of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "croze/graph/uop.h"

namespace croze {

class Graph;

// One line as an expression: "((r0 * 4) + p1[r2]) < 10".  Meant for index arithmetic and messages;
// what is nested more than 24 deep is printed as "...".
std::string to_string(UOp u);

// Everything the roots reach, sources first, a node a line:
//
//     %0 = range index [0, 16, 0]
//     %1 = const index 4
//     %2 = mul index %0 %1
//
// that is: number, op, dtype, sources, argument (of a const, its value).  Numbers count lines.
std::string print_graph(UOp root);
std::string print_graph(std::span<const UOp> roots);

// The argument as print_graph() shows it: of a const its value; "" if there is none.
std::string text_of_argument(UOp u);

// The node of the last line of such a text, made in `graph`; nodes are made exactly as written.
// Empty lines and what follows '#' are skipped.  Throws Error naming the line that cannot be read.
UOp parse_graph(Graph& graph, std::string_view text);

}  // namespace croze
