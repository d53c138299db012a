"""The libraries that python tools may use: which are allowed, which modules they contain, and which are installed."""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import Distribution, PackageNotFoundError, distribution

# Libraries whose import name differs from the distribution name.
_IMPORT_NAMES = {
    "beautifulsoup4": "bs4",
    "fonttools": "fontTools",
    "opencv-python": "cv2",
    "pillow": "PIL",
    "python-dateutil": "dateutil",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
# Requirements of libraries that are not installed, so that tools that use them can still be registered.
_KNOWN_REQUIREMENTS = {
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
_LIBRARY_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_EXTRA_MARKER = re.compile(r"\bextra\b")
# Top-level packages in distributions that are not part of the library itself.
_AUXILIARY_MODULES = frozenset({"test", "tests", "doc", "docs", "example", "examples", "benchmarks"})


@dataclass(frozen=True, slots=True)
class LibraryModules:
    """The modules of some libraries: those to preload, and all that code may import beside the standard library."""

    preloaded: tuple[str, ...]
    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _LibraryContents:
    modules: tuple[str, ...]
    requirements: tuple[str, ...]
    is_installed: bool = True


class Libraries:
    """The libraries that the board's owner allows, by their distribution names."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = tuple(dict.fromkeys(map(_normalize_name, allowed)))
        self._installed_contents: dict[str, _LibraryContents] = {}

    def problem(self, name: str) -> str | None:
        """Return why a tool cannot use this library and how to fix it; None if it can."""
        normal = _normalize_name(name)
        if normal in self.allowed:
            return None
        if not _LIBRARY_NAME.fullmatch(name):
            bare = _LIBRARY_NAME.match(name)
            if bare is not None and _normalize_name(bare[0]) in self.allowed:
                return f"the version is the one installed on the board; write '{_normalize_name(bare[0])}'"
        if name in sys.stdlib_module_names:
            return f"'{name}' is in the standard library, which every tool has; leave it out"
        if (library := self.providing(name)) is not None:
            return f"'{name}' is the import name of '{library}'; write '{library}'"
        near = difflib.get_close_matches(normal, self.allowed, 1)
        guess = f"did you mean '{near[0]}'? " if near else ""
        offered = f"allowed are: {', '.join(self.allowed)}" if self.allowed else "none is"
        return f"'{name[:100]}' is not allowed on this board; {guess}{offered} (PEGBOARD_PYTHON_LIBRARIES)"

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the libraries that are not installed on this board."""
        return [name for name in dict.fromkeys(map(_normalize_name, names)) if not self._contents(name).is_installed]

    def modules(self, names: Iterable[str]) -> LibraryModules:
        """Return the modules of these libraries and of all their requirements."""
        wanted = sorted(set(map(_normalize_name, names)))
        reached = dict.fromkeys(wanted)
        todo = list(wanted)
        found: set[str] = set()
        while todo:
            contents = self._contents(todo.pop())
            found.update(contents.modules)
            todo += [need for need in contents.requirements if need not in reached]
            reached.update(dict.fromkeys(contents.requirements))
        beforehand = [module for name in wanted for module in self._find_main_modules(name)]
        return LibraryModules(tuple(dict.fromkeys(beforehand)), tuple(sorted(found)))

    def providing(self, module: str) -> str | None:
        """Return the allowed library that is imported under this name, or None."""
        return self._providers.get(module)

    @cached_property
    def _providers(self) -> dict[str, str]:
        """The library of each module; cached, because the search for libraries that are not installed is slow."""
        found: dict[str, str] = {}
        for library in self.allowed:
            for module in self._find_main_modules(library):
                found.setdefault(module, library)
        return found

    def _find_main_modules(self, name: str) -> list[str]:
        """Return the modules that a user of the library imports."""
        modules = self._contents(name).modules
        if _get_import_name(name) in modules:
            return [_get_import_name(name)]
        return [module for module in modules if not module.startswith("_") and module not in _AUXILIARY_MODULES]

    def _contents(self, name: str) -> _LibraryContents:
        if name not in self._installed_contents:
            try:
                self._installed_contents[name] = _read_distribution(distribution(name))
            except (PackageNotFoundError, ValueError):
                # Not cached: it may be installed while the board runs.
                return _LibraryContents(
                    (_get_import_name(name),), _KNOWN_REQUIREMENTS.get(name, ()), is_installed=False
                )
        return self._installed_contents[name]


def _read_distribution(found: Distribution) -> _LibraryContents:
    modules = {
        module for line in (found.read_text("RECORD") or "").splitlines() if (module := _find_top_level_module(line))
    }
    modules.update((found.read_text("top_level.txt") or "").split())
    if not modules:  # a distribution without a list of files, as some systems package them
        modules.add(_get_import_name(_normalize_name(found.metadata["Name"])))
    needs = (needed for text in found.requires or () if (needed := _read_requirement(text)))
    return _LibraryContents(tuple(sorted(modules)), tuple(sorted(set(needs))))


def _find_top_level_module(line: str) -> str | None:
    """Return the top-level module of a line in RECORD, or None."""
    path = line.partition(",")[0].strip('"')
    first, is_within, rest = path.partition("/")
    if not is_within:
        return inspect.getmodulename(first)  # getmodulename also handles the suffixes of extension modules
    is_code = rest.endswith((".py", ".so", ".pyd"))
    return first if is_code and first.isidentifier() and first != "__pycache__" else None


def _read_requirement(requirement: str) -> str | None:
    text, _, marker = requirement.partition(";")
    name = _LIBRARY_NAME.match(text.strip())
    return None if name is None or _EXTRA_MARKER.search(marker) else _normalize_name(name[0])


def _normalize_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _get_import_name(library: str) -> str:
    return _IMPORT_NAMES.get(library, library.replace("-", "_"))
