"""What `make demo` does before its report: subscribers, history, live matching, and the view of it."""
