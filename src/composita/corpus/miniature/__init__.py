"""The miniature world: a small English-like parsed corpus with planted meaning, to show and to test everything with.

It is synthetic and says so. Nouns have latent vectors; verbs and adjectives have planted tensors, some of them with
two senses (*glow* in fire, and in face); the context words of each sentence are drawn from its *composed* meaning.
Hence it is known what a learner should find, and simulated annotators can rate pairs by their true similarity.
"""

from composita.corpus.miniature.planting import Truth, plant
from composita.corpus.miniature.recovery import Recovered, recovery
from composita.corpus.miniature.writing import Miniature, write_miniature

__all__ = ["Miniature", "Recovered", "Truth", "plant", "recovery", "write_miniature"]
