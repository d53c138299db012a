"""How the documentation is built: `make docs`."""

import re
from pathlib import Path

_package = Path(__file__).parent.parent / "src" / "pegboard" / "version.py"
_version = re.search(r'__version__ = "([^"]+)"', _package.read_text(encoding="utf-8"))
assert _version is not None

project = "Pegboard"
author = "Pegboard"
release = version = _version[1]

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
nitpicky = True

myst_heading_anchors = 4

html_theme = "furo"
html_title = f"Pegboard {release}"
html_static_path = ["_static"]
html_show_copyright = False
html_show_sphinx = False
