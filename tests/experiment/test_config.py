"""Descriptions of experiments: what is allowed, what is refused and how that is said, presets, sweeps."""

import re
from pathlib import Path

import pytest

from composita.experiment.config import PRESETS, Experiment, describe_options, preset
from composita.store.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]

REFUSED = [
    # not TOML, not a table
    ("= 1", r"not a TOML file: Invalid statement"),
    ("corpus = 1", r"'corpus' is 1, expected a table: \[corpus\]"),
    ("[spaces]\nsvd = 3", r"spaces.svd is 3, expected a table: \[spaces.svd\]"),
    # misspelt keys
    ("sede = 1", r"unknown key 'sede'; did you mean seed\?"),
    ("[space]\ndimension = 3", r"unknown key 'dimension' in \[space\]; did you mean dimensions\?"),
    ("[corpus]\nzzz = 3", r"unknown key 'zzz' in \[corpus\]; allowed are sources, path, .*tokens"),
    ("[spaces.svd]\nwieghting = 'ppmi'", r"unknown key 'wieghting' in \[spaces.svd\]; did you mean weighting\?"),
    ("[learners.a]\nlerner = 'onestep'", r"unknown key 'lerner' in \[learners.a\]; did you mean learner\?"),
    # values
    ("seed = -1", r"seed is -1, expected a whole number from 0"),
    ("seed = true", r"seed is True, expected a whole number"),
    ("preset = 'papr'", r"preset is 'papr', expected one of recommended, paper; did you mean paper\?"),
    ("[space]\ndimensions = 0", r"\[space\] dimensions is 0, expected a whole number from 1$"),
    ("[space]\ndimensions = 3.5", r"\[space\] dimensions is 3.5, expected a whole number from 1$"),
    ("[space]\nreduce = 'pca'", r"\[space\] reduce is 'pca', expected one of svd, nmf, none"),
    ("[space]\npower = -1", r"\[space\] power is -1, expected a number from 0"),
    ("[space]\npower = nan", r"\[space\] power is nan, expected a number from 0"),
    ("[space]\nshift = inf", r"\[space\] shift is inf, expected a number from 0"),
    ("[vocabulary]\nnouns = 'many'", r"\[vocabulary\] nouns is 'many', expected a whole number from 0 or \"all\""),
    ("[vocabulary]\nproper = 'noun'", r"proper is 'noun', expected one of nouns, arguments, no; did you mean nouns\?"),
    ("[count]\npassives = 1", r"\[count\] passives is 1, expected true or false"),
    ("[count]\nphrases = ['sv', 3]", r"\[count\] phrases is \['sv', 3\], expected a list of patterns"),
    ("[count]\nphrases = ['sv', 'sv']", r"expected a list of patterns, each once"),
    ("[evaluate]\nmethods = []", r"\[evaluate\] methods is \[\], expected a list of methods"),
    ("[learn]\noptions = 3", r"\[learn\] options is 3, expected a table"),
    ("[learn]\narguments = ['noun']", r"has 'noun', expected a list of nouns, names, pronouns; did you mean nouns"),
    ("[corpus]\nsources = ''", r"\[corpus\] sources is '', expected a list of files or patterns"),
    # names
    ("[spaces.'../x']\nreduce = 'svd'", r"\[spaces.../x\]: expected a name of letters, digits, - and _"),
    # together
    ("[corpus]\nsources = 'a'\npath = 'b'", r"both sources and path, expected one of them"),
    ("[spaces.a]\nlearners = ['x']", r"\[spaces.a\] learners has 'x', expected some of onestep, multistep"),
    # sweeps
    ("[sweep]\nspace.reduce = 'svd'", r"\[sweep\] space.reduce is 'svd', expected a list of values"),
    ("[sweep]\n'space.reduce' = ['svd', 'pca']", r"\[sweep\] space.reduce = pca: \[space\] reduce is 'pca', expected"),
    ("[sweep]\n'space.reduction' = ['svd']", r"unknown key 'reduction' in \[space\]"),
    ("[sweep]\n'name' = ['a']", r"\[sweep\] name: expected a key of the experiment such as space.reduce"),
    ("[sweep]\nseed = [" + "1," * 1001 + "]", r"\[sweep\] has 1001 variations, expected at most 1000"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text.replace("\n", " ")[:40] for text, _ in REFUSED])
def test_what_is_refused(text, message):
    with pytest.raises(UsageError, match=message) as found:
        Experiment.from_toml(text)
    assert "\n" not in str(found.value)
    assert str(found.value).startswith(("experiment.toml: ", "[sweep] "))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"cannot read .*no.toml: No such file or directory"):
        Experiment.load(tmp_path / "no.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(UsageError, match="in UTF-8"):
        Experiment.load(tmp_path / "latin.toml")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_complete_and_sound(name):
    experiment = Experiment.from_toml(f"preset = '{name}'")
    assert experiment.preset == name
    assert set(preset(name)) <= {"vocabulary", "count", "space", "spaces", "learn", "learners", "evaluate"}
    full = next(space for space in experiment.spaces if space.reduce == "none")
    assert not experiment.learners_of(full)
    assert all(experiment.learners_of(space) for space in experiment.spaces if space.reduce != "none")


def test_the_paper():
    experiment = Experiment.from_toml("preset = 'paper'")
    words = experiment.vocabulary
    assert (words.nouns, words.verbs, words.contexts, words.stop) == (8000, 4000, 10_000, 300)
    assert {space.name: space.dimensions for space in experiment.spaces if space.reduce != "none"} == {
        "svd": 300,
        "nmf": 300,
    }
    (learner,) = experiment.learners
    assert (learner.learner, learner.min_examples, learner.min_nonzero, learner.normalise) == ("multistep", 3, 10, True)


def test_learners_are_as_their_recipes_have_them():
    from composita.functions.recipes import recipe

    for name in PRESETS:
        said = recipe(name)
        part = Experiment.from_toml(f"[learn]\npreset = '{name}'\nlearner = '{said.learner}'").learners[0]
        assert (part.learner, part.options) == (said.learner, dict(said.options))
        assert part.arguments == said.selection.arguments and part.min_nonzero == said.selection.min_nonzero
    mixed = Experiment.from_toml("[learners.a]\npreset = 'paper'\nlearner = 'plsr'\noptions.components = 5")
    assert mixed.learners[0].options == {"components": 5} and mixed.learners[0].min_nonzero == 10
    part = Experiment.from_toml("[learners.a]\npreset = 'paper'\noptions.per = 'level'").learners[0]
    assert part.learner == "multistep" and part.options["per"] == "level" and not part.options["centre"]


def test_what_is_given_goes_before_the_preset():
    experiment = Experiment.from_toml(
        "preset = 'paper'\n[vocabulary]\nnouns = 'all'\n[space]\nweighting = 'lmi'\ndimensions = 20"
    )
    assert experiment.vocabulary.nouns is None and experiment.vocabulary.verbs == 4000
    assert {space.weighting for space in experiment.spaces} == {"lmi"}
    assert [space.name for space in experiment.spaces] == ["full", "svd", "nmf"]


def test_one_space_and_one_learner_by_the_short_way():
    experiment = Experiment.from_toml("[space]\nreduce = 'none'\n[learn]\nlearner = 'plsr'")
    assert [space.name for space in experiment.spaces] == ["full"]
    assert [learner.name for learner in experiment.learners] == ["plsr"]


def test_named_spaces_replace_those_of_the_preset():
    experiment = Experiment.from_toml("[spaces.a]\nreduce = 'svd'\n[spaces.b]\nreduce = 'nmf'\nlearners = ['onestep']")
    assert [space.name for space in experiment.spaces] == ["a", "b"]
    assert [len(experiment.learners_of(space)) for space in experiment.spaces] == [2, 1]


def test_sweeps_combine_all_values():
    text = "[sweep]\nspace.reduce = ['svd', 'nmf']\nspace.dimensions = [10, 20]\n[vocabulary]\nnouns = 10"
    found = Experiment.from_toml(text).variations()
    assert [chosen for chosen, _ in found] == [
        {"space.reduce": reduce, "space.dimensions": size} for reduce in ("svd", "nmf") for size in (10, 20)
    ]
    assert [(e.spaces[0].name, e.spaces[0].dimensions, e.vocabulary.nouns) for _, e in found] == [
        ("svd", 10, 10), ("svd", 20, 10), ("nmf", 10, 10), ("nmf", 20, 10)
    ]  # fmt: skip
    assert all(not experiment.sweep for _, experiment in found)


@pytest.mark.parametrize("text", ["preset = 'paper'", "[space]\nreduce = 'nmf'\n[learn.options]\nper = 'group'"])
def test_the_resolved_values_describe_the_same_experiment(text):
    import json

    first = Experiment.from_toml(text)
    said = json.loads(json.dumps(first.to_table()))
    again = Experiment.from_table(_allowed(said))
    assert again.to_table() == first.to_table()


def _allowed(value):
    """Write None as a file would: by leaving it out, or as the word for no limit."""
    if isinstance(value, dict):
        return {k: "all" if v is None and k in _LIMITS else _allowed(v) for k, v in value.items()
                if v is not None or k in _LIMITS}  # fmt: skip
    return value


_LIMITS = {"nouns", "verbs", "adjectives", "adverbs", "contexts", "tokens", "max_examples", "columns"}


def test_every_option_says_what_it_is():
    rows = describe_options()
    assert len(rows) > 50
    assert all(section and key and allowed and about for section, key, allowed, about in rows)


def test_the_documentation_has_every_option_and_no_other():
    text = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    found = {}
    for section, body in re.findall(r"^### \[(\w+)\].*?$(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL):
        for row in re.findall(r"^\| `(\w+)` \| (.*?) \| .*? ?\| (.*?) \|$", body, re.MULTILINE):
            found[section, row[0]] = row[1:]
    assert found == {
        (section, key): (allowed.replace('"', "`"), about) for section, key, allowed, about in describe_options()
    }


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda path: path.name)
def test_the_experiments_that_come_along_are_sound(path):
    experiment = Experiment.load(path)
    assert experiment.corpus.sources and experiment.evaluate.benchmarks
    assert re.fullmatch("[a-z0-9-]+", experiment.name)


def test_the_options_are_those_of_the_rooms():
    import inspect
    from dataclasses import fields

    from composita.corpus.encoding import Options
    from composita.counting.count import count
    from composita.counting.vocabulary import Choice
    from composita.experiment.config import CorpusPart, CountPart, LearnPart, SpacePart, VocabularyPart
    from composita.functions.selection import Selection
    from composita.spaces.space import Space

    def names(part):
        return {field.name for field in fields(part)}

    assert names(Selection) == names(LearnPart) - {
        "name", "preset", "learner", "patterns", "options", "lean", "shared"
    }  # fmt: skip
    ours = names(SpacePart) - {"name", "without", "learners", "options"}
    assert ours | {"columns_by"} <= set(inspect.signature(Space.from_counts).parameters) | {"columns_by"}
    assert names(VocabularyPart) - {"include", "benchmarks", "stop_list"} <= names(Choice)
    assert names(CountPart) - {"path"} <= set(inspect.signature(count).parameters)
    assert names(CorpusPart) - {"sources", "path", "tokens"} <= names(Options)
