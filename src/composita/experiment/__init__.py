"""Experiments: every stage from text to table, from one file, cached, resumable and told in a report."""
