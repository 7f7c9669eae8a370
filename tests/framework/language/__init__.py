"""What texts mean, what is wrong with others, and where."""
