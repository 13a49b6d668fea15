"""Counting: from an encoded corpus to labelled counts of words and phrases beside their contexts."""
