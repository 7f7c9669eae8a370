"""What `make demo` does before its report: history, learning, live matching, and the view of it."""
