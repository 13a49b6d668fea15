"""The documentation does what it says: its commands are run, its references exist, its generated part is fresh."""

import doctest
import importlib
import inspect
import io
import logging
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import composita
from composita.cli.main import main
from composita.corpus import scan
from composita.corpus.formats import FORMATS
from composita.corpus.reading import Drop

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REFERENCE = runpy.run_path(str(ROOT / "docs" / "cli_reference.py"))


def page_id(path):
    return path.relative_to(ROOT).as_posix()


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


# Console blocks. A block ```console is run line by line in a folder of the page; a block ```text that follows its
# file's name alone on a line, as in `small.conllu`:, is written to that folder first.

BLOCK = re.compile(r"(?:^`(?P<file>[\w.-]+)`:\n\n)?^```(?P<kind>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("make", "git", "pip", "python", "cd", "iconv")


def blocks(page):
    return [m for m in BLOCK.finditer(page) if m["kind"] == "console" or (m["file"] and m["kind"] == "text")]


def commands_of(block):
    """Give each command of a console block with the output that is shown below it."""
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def shown(output):
    """Make a pattern of shown output: a line ``...`` stands for any lines, ``...`` in a line for anything in it."""
    lines = [re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + "\n" for line in output.strip().splitlines()]
    return re.compile("".join(r"(?:.*\n)*?" if line == ".*\n" else line for line in lines))


def run(command, monkeypatch):
    """Run ``composita ...`` or ``cat FILE | composita ...`` in this process; return exit code and all that it says."""
    words = shlex.split(command)
    if words[0] == "cat" and words[2] == "|":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(words[1]).read_bytes())))
        words = words[3:]
    assert words[0] == "composita", f"a console block has a command that is neither run nor skipped: {command}"
    logger, said = logging.getLogger("composita"), io.StringIO()
    handler = logging.StreamHandler(said)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with redirect_stdout(said), redirect_stderr(said):
            code = main(words[1:])
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    lines = [line.rstrip() for line in said.getvalue().strip().splitlines()]
    return code, "".join(f"{line}\n" for line in lines if not line.startswith("compiling (once)"))


@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p.read_text(encoding="utf-8"))], ids=page_id)
def test_console_blocks(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in blocks(path.read_text(encoding="utf-8")):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["body"], encoding="utf-8")
            continue
        for command, output in commands_of(block["body"]):
            if command.split()[0] in NOT_RUN:
                continue
            code, said = run(command, monkeypatch)
            fails = re.search(r"^composita: ", output, re.MULTILINE)
            assert bool(code) == bool(fails), f"$ {command}\n{said}-> exit code {code}"
            if output.strip():
                same = bool(shown(output).fullmatch(said))
                assert same, f"$ {command}\nshown:\n{output}\nfound:\n{said}"


def test_the_runner_sees_differences():
    assert shown("a ... c\n...\nz\n").fullmatch("a b c\nx\ny\nz\n")
    assert not shown("a\nz\n").fullmatch("a\ny\nz\n")
    assert list(commands_of("$ a \\\n  b\n1\n2\n$ c\n")) == [("a    b", "1\n2\n"), ("c", "")]


# The command reference.


def test_the_command_reference_is_fresh():
    page = read("docs/cli.md")
    assert page == REFERENCE["renewed"](page), "run: .venv/bin/python docs/cli_reference.py"


@pytest.mark.parametrize("name", REFERENCE["commands"]())
def test_commands_have_help_and_an_example(name):
    command = REFERENCE["commands"]()[name]
    assert command.help
    assert (command.epilog or "").startswith(f"Example: composita {name} ")
    assert all(getattr(option, "help", None) for option in command.params if option.name != "help")
    assert f"\n## composita {name}\n" in read("docs/cli.md"), "run: .venv/bin/python docs/cli_reference.py"


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
OTHERS = {"--check", "--version", "--help"}  # of docs/cli_reference.py, and of composita itself
FOREIGN = {  # of dask, srun, pip, and of our own scripts for development
    "cluster": "host no-dashboard nthreads nworkers scheduler-file death-timeout ntasks cpus-per-task mem-per-cpu time "
    "exact",
    "lexicon": "trials most space",
    "scaling": "sizes functions lin folder page",
    "trust": "folder test seconds found dry-run python-version only-binary",
}


def test_options_that_are_named_exist():
    params = [param for command in REFERENCE["commands"]().values() for param in command.params]
    known = {option for param in params for option in (*param.opts, *param.secondary_opts)}
    for path in [p for p in PAGES if p.name != "cli.md"]:
        foreign = {f"--{name}" for name in FOREIGN.get(path.stem, "").split()}
        assert set(OPTION.findall(path.read_text(encoding="utf-8"))) <= known | OTHERS | foreign, page_id(path)
    for name, command in REFERENCE["commands"]().items():
        own = {o for param in command.params for o in param.opts}
        assert set(OPTION.findall(command.epilog)) <= own, name


# Links and files.


def test_links_and_files_named_in_the_pages_exist():
    for path in [*PAGES, *(ROOT / n for n in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]:
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
            if "://" not in target:
                name = target.partition("#")[0]
                assert not name or (path.parent / name).exists(), f"{page_id(path)} links to {target}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_make_targets_that_are_named_exist(name):
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:`|\$ )make ([a-z]+)", read(name))) <= targets


def test_every_page_is_in_the_table_of_contents():
    index = read("docs/index.md")
    named = set(
        re.findall(r"^[\w-]+$", "\n".join(re.findall(r"```\{toctree\}(.*?)```", index, re.DOTALL)), re.MULTILINE)
    )
    assert named == {p.stem for p in PAGES if p.parent.name == "docs"} - {"index"}


def test_every_reason_to_drop_a_sentence_is_explained():
    page = read("docs/troubleshooting.md")
    for code in scan.REASONS:
        assert Drop(1, code).describe(FORMATS["conllu"]) in page


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert composita.__version__ == version
    assert f"\nversion: {version}\n" in read("CITATION.cff")
    assert re.search(rf"^## {re.escape(version)}\b", read("CHANGELOG.md"), re.MULTILINE)


# The public names, and what loading them loads.

HEAVY = {"numba", "scipy", "pyarrow", "sklearn"}


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import composita", HEAVY | {"typer", "numpy", "rich"}),
        ("from composita.cli.main import main; assert main(['--help']) == 0", HEAVY),
        ("from composita.cli.main import main; assert main(['encode', '--help']) == 0", HEAVY),
    ],
)
def test_heavy_libraries_are_not_loaded_before_they_are_needed(code, absent):
    code += "; import sys; sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not absent & set(done.stderr.split())


def test_public_names_are_sorted_and_importable():
    assert composita.__all__ == sorted(composita.__all__)
    assert dir(composita) == composita.__all__
    for name in composita.__all__:
        assert getattr(composita, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        importlib.import_module("composita").nothing  # noqa: B018


@pytest.mark.parametrize("name", composita.__all__)
def test_public_names_are_documented_with_an_example(name):
    assert f"composita.{name}" in read("docs/python.md")
    thing = getattr(composita, name)
    if not isinstance(thing, str):  # a constant has no docstring
        assert doctest.DocTestParser().get_examples(inspect.getdoc(thing) or ""), f"{name} has no runnable example"
