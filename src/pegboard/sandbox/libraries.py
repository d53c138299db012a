"""The libraries that python tools may use: which are allowed, which modules they bring, and which are installed."""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import Distribution, PackageNotFoundError, distribution

# Where a library is imported under another name than it is installed by.
_IMPORTED_AS = {
    "beautifulsoup4": "bs4",
    "fonttools": "fontTools",
    "opencv-python": "cv2",
    "pillow": "PIL",
    "python-dateutil": "dateutil",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
# What libraries need, for boards where they are not installed: their tools can be registered there all the same.
_NEEDS = {
    "beautifulsoup4": ("soupsieve", "typing-extensions"),
    "httpx": ("anyio", "certifi", "h11", "httpcore", "idna"),
    "jinja2": ("markupsafe",),
    "matplotlib": (
        "contourpy", "cycler", "fonttools", "kiwisolver", "numpy", "packaging", "pillow", "pyparsing",
        "python-dateutil",
    ),
    "openpyxl": ("et-xmlfile",),
    "pandas": ("numpy", "python-dateutil", "pytz", "tzdata"),
    "python-dateutil": ("six",),
    "requests": ("certifi", "charset-normalizer", "idna", "urllib3"),
    "scikit-learn": ("joblib", "numpy", "scipy", "threadpoolctl"),
    "scipy": ("numpy",),
    "statsmodels": ("numpy", "packaging", "pandas", "patsy", "scipy"),
    "sympy": ("mpmath",),
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_EXTRA = re.compile(r"\bextra\b")
# What distributions carry along that nobody means by their name.
_BESIDE = frozenset({"test", "tests", "doc", "docs", "example", "examples", "benchmarks"})


@dataclass(frozen=True, slots=True)
class Modules:
    """The modules of some libraries: to import beforehand, and all that code may import beside the standard library."""

    beforehand: tuple[str, ...]
    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Contents:
    modules: tuple[str, ...]
    needs: tuple[str, ...]
    is_installed: bool = True


class Libraries:
    """The libraries that the board's owner allows, by the names that they are installed by."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = tuple(dict.fromkeys(map(_normal, allowed)))
        self._installed: dict[str, _Contents] = {}

    def problem(self, name: str) -> str | None:
        """Why a tool cannot have this library, with the way out; None if it can."""
        normal = _normal(name)
        if normal in self.allowed:
            return None
        if not _NAME.fullmatch(name):
            bare = _NAME.match(name)
            if bare is not None and _normal(bare[0]) in self.allowed:
                return f"a version is what the board has installed; write '{_normal(bare[0])}'"
        if name in sys.stdlib_module_names:
            return f"'{name}' is in the standard library, which every tool has; leave it out"
        if (library := self.providing(name)) is not None:
            return f"'{name}' is how '{library}' is imported; write '{library}'"
        near = difflib.get_close_matches(normal, self.allowed, 1)
        guess = f"did you mean '{near[0]}'? " if near else ""
        offered = f"allowed are: {', '.join(self.allowed)}" if self.allowed else "none is"
        return f"'{name[:100]}' is not allowed on this board; {guess}{offered} (PEGBOARD_PYTHON_LIBRARIES)"

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those of the libraries that are not installed where this board runs."""
        return [name for name in dict.fromkeys(map(_normal, names)) if not self._contents(name).is_installed]

    def modules(self, names: Iterable[str]) -> Modules:
        """The modules of these libraries, and of all that they need."""
        wanted = sorted(set(map(_normal, names)))
        reached = dict.fromkeys(wanted)
        todo = list(wanted)
        found: set[str] = set()
        while todo:
            contents = self._contents(todo.pop())
            found.update(contents.modules)
            todo += [need for need in contents.needs if need not in reached]
            reached.update(dict.fromkeys(contents.needs))
        beforehand = [module for name in wanted for module in self._main_modules(name)]
        return Modules(tuple(dict.fromkeys(beforehand)), tuple(sorted(found)))

    def providing(self, module: str) -> str | None:
        """The allowed library that is imported under this name."""
        return self._providers.get(module)

    @cached_property
    def _providers(self) -> dict[str, str]:
        """Which library each module is of; once, as looking for those that are not installed takes long."""
        found: dict[str, str] = {}
        for library in self.allowed:
            for module in self._main_modules(library):
                found.setdefault(module, library)
        return found

    def _main_modules(self, name: str) -> list[str]:
        """What somebody who names the library means to import."""
        modules = self._contents(name).modules
        if _import_name(name) in modules:
            return [_import_name(name)]
        return [module for module in modules if not module.startswith("_") and module not in _BESIDE]

    def _contents(self, name: str) -> _Contents:
        if name not in self._installed:
            try:
                self._installed[name] = _contents(distribution(name))
            except (PackageNotFoundError, ValueError):
                # Not kept: it may be installed while the board runs.
                return _Contents((_import_name(name),), _NEEDS.get(name, ()), is_installed=False)
        return self._installed[name]


def _contents(found: Distribution) -> _Contents:
    modules = {module for line in (found.read_text("RECORD") or "").splitlines() if (module := _top_level(line))}
    modules.update((found.read_text("top_level.txt") or "").split())
    if not modules:  # a distribution that tells nothing of its files, as those of some systems
        modules.add(_import_name(_normal(found.metadata["Name"])))
    needs = (needed for text in found.requires or () if (needed := _needed(text)))
    return _Contents(tuple(sorted(modules)), tuple(sorted(set(needs))))


def _top_level(line: str) -> str | None:
    """The module that a line of a list of installed files is part of."""
    path = line.partition(",")[0].strip('"')
    first, is_within, rest = path.partition("/")
    if not is_within:
        return inspect.getmodulename(first)  # whatever it is called: compiled modules have odd names
    is_code = rest.endswith((".py", ".so", ".pyd"))
    return first if is_code and first.isidentifier() and first != "__pycache__" else None


def _needed(requirement: str) -> str | None:
    text, _, marker = requirement.partition(";")
    name = _NAME.match(text.strip())
    return None if name is None or _EXTRA.search(marker) else _normal(name[0])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _import_name(library: str) -> str:
    return _IMPORTED_AS.get(library, library.replace("-", "_"))
