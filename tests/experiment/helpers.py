"""A small experiment on the beginning of the miniature text, and results that are made up."""

from pathlib import Path

from composita.corpus.miniature import write_miniature
from composita.experiment.report.figures import Curve, Prediction
from composita.experiment.report.page import Sheet, Story, Timing
from composita.experiment.results import Reference, Results, Row

SENTENCES = 2500

TOML = """
name = "small"
preset = "recommended"
seed = 7

[corpus]
sources = ["text/small.conllu"]

[vocabulary]
adjectives = 20
contexts = 200
stop = 0

[count]
phrases = ["sv", "svo"]

[space]
dimensions = 8

[spaces.full]
reduce = "none"

[spaces.svd]
reduce = "svd"
without = ["multiply"]

[learners.onestep]
learner = "onestep"

[learners.multistep]
learner = "multistep"

[evaluate]
benchmarks = ["text/miniature-gs2011.txt"]
methods = ["verb", "add", "multiply", "regression", "learned"]
bootstrap = 50
word_order = 20
"""


def write_small(folder: Path) -> Path:
    """Write text, ratings and the description of an experiment; give the description."""
    made = write_miniature(folder / "text")
    sentences = made.text.read_text(encoding="utf-8").split("\n\n")
    (folder / "text" / "small.conllu").write_text("\n\n".join(sentences[:SENTENCES]) + "\n\n", encoding="utf-8")
    path = folder / "small.toml"
    path.write_text(TOML, encoding="utf-8")
    return path


HOSTILE = "<script>alert('&\"')</script>"


def story() -> Story:
    """Make up a story in which every name is an attack."""
    rows = (
        Row("gs2011", "add", "svd", 0.214, (0.12, 0.3), 0.28, (0.15, 0.4), 4, 4),
        Row("gs2011", HOSTILE, "svd", 0.32, (0.22, 0.41), 0.43, (0.3, 0.55), 4, 3),
        Row.left_out("gs2011", "multiply", "svd", 4),
        Row(HOSTILE, "add", "svd", None, None, 0.1, None, 4, 4),
    )
    references = (
        Reference("gs2011", 4, 12, 3, {"rho_individual": 0.6, "rho_mean": 0.74}, {"rho_individual": 0.764}, {},
                  {"pairwise": 0.6}),
    )  # fmt: skip
    predictions = [
        Prediction(
            "gs2011", method, "svd", f"{HOSTILE} {n}", HOSTILE, rating, None if n == 3 and method != "add" else 0.1 * n
        )
        for method in ("add", HOSTILE)
        for n, rating in enumerate((1.0, 2.5, 3.0, 6.0))
    ]
    return Story(
        HOSTILE, Results(rows, references), predictions,
        [Timing("counts", 12.5, 400_000_000, False), Timing(HOSTILE, 0.1, 100, True)],
        {"corpus": HOSTILE}, [Sheet("A sheet", ("a", HOSTILE), ((HOSTILE, "1"),), HOSTILE)], {},
        {HOSTILE: [Curve(HOSTILE, ((1e-6, 2.0), (1.0, 1.0), (1e3, 1.5)))]}, {("gs2011", HOSTILE, "svd"): HOSTILE},
        f'name = "{HOSTILE}"',
        {"name": HOSTILE, "space": {"dimensions": 300}}, {"counts": "ab12"}, {"composita": "0.1.0"},
    )  # fmt: skip
