"""Composition: the meaning of a phrase or sentence from the meanings of its words, by every method."""
