"""Names, grows and hashes arrays, compiles kernels, lets many read while one writes.

Others may import from `collecting`, `growing`, `hashing`, `kernels`, `keys`, `lists`, `locks`,
`types` and `views`.
"""
