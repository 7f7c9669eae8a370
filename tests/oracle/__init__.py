"""An oracle for tamis: random worlds, and a brute force reading of the contract to judge them.

It shares no code with tamis. Only `test_oracle.py` and `__main__.py` import it, and hand it to
`compare.py`, which uses nothing but the public face of the contract, section 3.
"""
