"""What is true of one event, and which call is next."""
