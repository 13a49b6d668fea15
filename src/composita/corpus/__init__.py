"""Parsed text: readers, the encoded corpus, and what it can be asked."""
