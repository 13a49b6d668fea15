# Settings of Sphinx: sphinx-build -q -W -b html docs docs/_build/html
import composita

project = "composita"
author = "The composita authors"
copyright = author
version = release = composita.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"composita {version}"

myst_heading_anchors = 3  # a link may name a heading: corpora.md#bad-input

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
