"""Evaluation: benchmarks with human ratings, and how well methods predict them."""
