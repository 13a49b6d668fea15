"""Benchmarks: ratios between composita and a named alternative, measured in the same run on the same machine."""
