"""Names, grows and hashes arrays, compiles kernels, lets many read while one writes."""
