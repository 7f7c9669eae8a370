"""The image operators: what they see is a frame, and what they count a detector found on it."""
