"""How the site is built: `make docs` writes it to docs/_build/html, without the network."""

import logging
import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import moreplr  # noqa: E402

# Examples and pages speak of the bundled data, whatever folder the reader has set.
os.environ.pop("MOREPLR_DATA", None)
# Examples show what they print, not that kernels were compiled for it.
logging.getLogger("moreplr.jit").addHandler(logging.NullHandler())
# Taking labels away leaves some rows with none; the pages say so once.
warnings.filterwarnings("ignore", message=".* rows rank no label")

project = "moreplr"
author = "the moreplr developers"
copyright = "the moreplr developers, MIT licence"
version = release = moreplr.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "measured"]
templates_path = ["_templates"]
default_role = "literal"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
toc_object_entries_show_parents = "hide"
smartquotes = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery_order.place",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "min_reported_time": 1,
    "reset_modules": ("matplotlib",),
}
html_theme = "pydata_sphinx_theme"
html_title = "moreplr"
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_css_files = ["moreplr.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "moreplr"},
    "header_links_before_dropdown": 4,
    "navbar_align": "left",
    # Each release's site lies in a folder of its version.
    "switcher": {"json_url": "_static/versions.json", "version_match": version},
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages without parts of their own need no list of them.
SINGLE = [
    "index", "alternatives", "architecture", "benchmark", "choosing", "evidence", "experiments",
    "faq", "field", "glossary", "incomplete", "saving", "security", "command_line",
]  # fmt: skip
html_sidebars = {page: [] for page in [*SINGLE, "references"]}


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what scikit-learn adds to every estimator: its own pages describe it."""
    module = getattr(obj, "__module__", None) or ""
    foreign = module.startswith("sklearn") or name.endswith("_request")
    return True if foreign else None


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_foreign)
