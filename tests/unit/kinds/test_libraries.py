"""The libraries that python tools may use."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

import pytest

from pegboard.kinds import libraries
from pegboard.kinds.libraries import Libraries
from pegboard.settings import Settings, split_comma_list

USUAL = Libraries(split_comma_list(str(Settings.model_fields["python_libraries"].default)))
# The distributions that are installed on this machine.
NOT_HERE = "no-such-library-anywhere"


@pytest.fixture
def site_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed distributions, for this test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(site_folder: Path, name: str, files: str = "", needs: str = "", top_level: str | None = None) -> None:
    folder = site_folder / f"{name.replace('-', '_')}-1.0.dist-info"
    folder.mkdir()
    wanted = "".join(f"Requires-Dist: {need}\n" for need in needs.split("|") if need)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{wanted}")
    if files:
        (folder / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in files.split()))
    if top_level is not None:
        (folder / "top_level.txt").write_text(top_level)


class TestAllowed:
    @pytest.mark.parametrize("name", ["pandas", "Pandas", "scikit_learn", "scikit-learn", "Python.Dateutil", " numpy"])
    def test_names_are_those_of_installers(self, name: str) -> None:
        assert USUAL.problem(name) is None

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("panda", "did you mean 'pandas'? allowed are: numpy, pandas, "),
            ("tensorflow", "'tensorflow' is not allowed on this board; allowed are: numpy"),
            ("sklearn", "write 'scikit-learn'"),
            ("PIL", "write 'pillow'"),
            ("yaml", "write 'pyyaml'"),
            ("json", "standard library"),
            ("pandas>=2", "write 'pandas'"),
            ("pandas[excel]", "write 'pandas'"),
            ("../x", "not allowed"),
            ("pegboard", "not allowed"),
            ("x" * 10_000, "not allowed"),
        ],
    )
    def test_any_other_is_answered_with_the_way_out(self, name: str, words: str) -> None:
        problem = USUAL.problem(name)
        assert problem is not None
        assert words in problem
        assert len(problem) < 1000

    def test_a_board_may_allow_none(self) -> None:
        assert "none is" in str(Libraries(()).problem("numpy"))


class TestModules:
    def test_those_of_a_library_and_of_all_that_it_needs_can_be_imported(self, site_folder: Path) -> None:
        install(site_folder, "shop-floor", "shop_floor/__init__.py", "shop.Tools>=1,<2|shop-extra; extra == 'more'")
        install(
            site_folder,
            "shop-tools",
            "tools/__init__.py wrench.py",
            "shop-floor|shop_bolts (>3); python_version > '3'",
        )
        install(site_folder, "shop-bolts", f"bolts{EXTENSION_SUFFIXES[0]}")
        install(site_folder, "shop-extra", "extra.py")
        found = Libraries(["shop-floor"]).modules(["shop-floor"])
        assert found.preloaded == ("shop_floor",)
        assert found.allowed == ("bolts", "shop_floor", "tools", "wrench")

    def test_what_a_distribution_carries_besides_is_no_module(self, site_folder: Path) -> None:
        files = "a/__init__.py a/b.so ../../bin/a a.libs/x.so a-1.0.dist-info/METADATA docs/x.rst __pycache__/c.pyc"
        install(site_folder, "a", files)
        modules = Libraries(["a"]).modules(["a"])
        assert modules.preloaded == ("a",)
        assert modules.allowed == ("a",)

    def test_compiled_modules_of_odd_names_are_among_them(self, site_folder: Path) -> None:
        install(site_folder, "odd", f"odd/__init__.py 81d24__mypyc{EXTENSION_SUFFIXES[0]}")
        assert "81d24__mypyc" in Libraries(["odd"]).modules(["odd"]).allowed

    def test_a_library_under_another_name_is_imported_by_that(self, site_folder: Path) -> None:
        install(site_folder, "odd-name", "first/__init__.py second.py _third.py tests/test_x.py")
        libraries = Libraries(["odd-name"])
        assert libraries.modules(["odd-name"]).preloaded == ("first", "second")
        assert libraries.providing("second") == "odd-name"
        assert libraries.providing("_third") is None
        assert "write 'odd-name'" in str(libraries.problem("first"))

    def test_a_list_of_names_will_do_and_so_will_none(self, site_folder: Path) -> None:
        install(site_folder, "listed", top_level="lister\n_lister\n")
        install(site_folder, "silent-one")
        libraries = Libraries(["listed", "silent-one"])
        assert libraries.modules(["listed"]).allowed == ("_lister", "lister")
        assert libraries.modules(["silent-one"]).preloaded == ("silent_one",)

    def test_the_same_libraries_are_the_same_however_they_are_named(self) -> None:
        one, other = USUAL.modules(["pandas", "numpy"]), USUAL.modules(["Numpy", "pandas", "numpy"])
        assert one == other
        assert one.preloaded == ("numpy", "pandas")
        assert {"pandas", "numpy", "dateutil"} <= set(one.allowed)


class TestMissing:
    def test_a_missing_library_is_reported_and_its_modules_are_known(self) -> None:
        libraries = Libraries([NOT_HERE, "scikit-learn", "pandas"])
        assert NOT_HERE in libraries.missing([NOT_HERE, "pandas"])
        assert "pandas" not in libraries.missing(["pandas"])
        assert libraries.modules([NOT_HERE]).preloaded == ("no_such_library_anywhere",)
        assert libraries.providing("sklearn") == "scikit-learn"
        assert {"sklearn", "numpy", "scipy", "joblib"} <= set(libraries.modules(["scikit-learn"]).allowed)

    def test_libraries_installed_later_are_found(self, site_folder: Path) -> None:
        libraries = Libraries(["late"])
        assert libraries.missing(["late"]) == ["late"]
        install(site_folder, "late", "late.py")
        assert libraries.missing(["late"]) == []

    def test_those_that_are_not_are_not_searched_for_with_every_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        looked: list[str] = []

        def nowhere(name: str) -> Distribution:
            looked.append(name)
            raise PackageNotFoundError

        monkeypatch.setattr(libraries, "distribution", nowhere)
        allowed = Libraries(["one", "two"])
        assert all(allowed.problem(f"other-{place}") for place in range(10))
        assert allowed.providing("two") == "two"
        assert looked == ["one", "two"]
