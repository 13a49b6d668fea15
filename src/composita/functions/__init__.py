"""Functions: what verbs and adjectives do, learned as tensors from the phrases in which they are attested."""
