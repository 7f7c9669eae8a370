"""Measures tamis: `tamis bench`, on the workloads of the papers and beside its rivals."""
