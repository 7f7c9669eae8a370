"""Tests of the core, a folder for a package; what lies here is of flat modules, or of all of it."""
