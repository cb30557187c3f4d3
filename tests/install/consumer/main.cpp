// A program outside the project, built against an installed croze.
#include <croze/base/version.h>

#include <cstdio>

int main() { std::printf("croze %s\n", croze::version()); }
