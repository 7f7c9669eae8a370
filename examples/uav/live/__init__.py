"""Does what `make demo` does before its report: history, learning, live matching, a view of it."""
