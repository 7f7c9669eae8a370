"""The live page of the server: plain HTML, style and modules, a client of its addresses."""
