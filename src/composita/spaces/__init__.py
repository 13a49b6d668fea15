"""Spaces: from counts to vectors, by weighting, reduction and projection; similarity and exchange."""
