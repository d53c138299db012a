"""Fail if a name, a comment, a docstring, a message or a page has a word of a private style."""

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

# Words of a private style; docs/glossary.md and the style of the Python documentation have plain ones.
BANNED_WORDS = re.compile(
    r"(?<![a-z0-9])(whoever|whomever|nobody|somebody|anybody|anew|told|lest|none the wiser|one upon the other"
    r"|for want of|be it)(?![a-z0-9])",
    re.IGNORECASE,
)
# Phrases for which there is a plainer one: "if there is", "return", "unchanged", "in advance", "this many".
BANNED_PHRASES = re.compile(
    r"\b(where there (?:is|are|was|were|can)|where (?:none|nothing|no one)|(?:comes?|came) (?:back|again|late)"
    r"|all the same|as (?:it|they) came|tells? (?:of|it|them|which|what|how|whether|its)|such as it is"
    r"|as ever|at hand|beforehand|for ever|for good|gone through|is there any more|looks? after|put together"
    r"|so many (?:calls|bytes|seconds|characters|times)|to be had|what (?:became|becomes) of|what is said"
    r"|whatever comes)\b",
    re.IGNORECASE,
)
# Metaphors that were names once. Say environment, supervisor, watcher, queue, compiled tool, surface, register, ….
BANNED_NAMES = frozenset({
    "aloud", "bury", "condemned", "crew", "crowd", "deaf", "decently", "door", "doors", "essence", "estate",
    "grafted", "heard", "hears", "house", "houses", "lane", "lanes", "lively", "nurse", "oddities",
    "onlooker", "onlookers", "outfit", "peg", "pegs", "said", "saying", "shelf", "spelt", "spoilt", "spoken", "vigil",
    "whom", "workshop",
})  # fmt: skip
# Phrases in names: say disconnect, return, examine, assemble, permanently, search.
BANNED_IN_NAMES = re.compile(
    r"(?:^|_)(go(?:es)?_away|(?:comes?|came)_back|looked_(?:at|for)|for_good|put_together|gone_through|stays?_as_(?:it|they))(?=_|$)"
)
# Fixed names that contain such a word, and modules that may use one.
ALLOWED = {"CrewAI", "nobody"}
ALLOWED_IN = {("src/pegboard/sandbox/zygote_process.py", "said")}  # a field of log events
NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def private_words() -> Iterator[str]:
    """Return a message for each banned word in identifiers, comments, docstrings, messages and pages."""
    for folder in ("src", "tests", "bench"):
        for path in sorted(Path(folder).rglob("*.py")):
            yield from private_words_in_code(path)
    for path in sorted(Path("console/src").rglob("*.ts*")):
        if path.name != "schema.d.ts":
            yield from private_words_in_text(path)
    for page in (*map(Path, ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")), *sorted(Path("docs").rglob("*.md"))):
        if page.is_file() and "_build" not in page.parts and page.name != "glossary.md":
            yield from private_words_in_text(page)


def private_words_in_text(path: Path) -> Iterator[str]:
    """Return the messages for a page, or a module of the web console."""
    text = path.read_text(encoding="utf-8")
    for match in find_banned(text.replace("\n", " ")):
        yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: '{match[0]}': use a plain word"


def find_banned(text: str) -> Iterator[re.Match[str]]:
    """Return the banned words and phrases of a text."""
    yield from BANNED_WORDS.finditer(text)
    yield from BANNED_PHRASES.finditer(text)


def private_words_in_code(path: Path) -> Iterator[str]:
    """Return the messages for one module. Strings of tests are data, so that only their docstrings are read."""
    text = path.read_text(encoding="utf-8")
    for word in sorted(BANNED_NAMES.intersection(path.stem.split("_"))):
        yield f"{path}: the file name has '{word}': use a plain word (docs/glossary.md)"
    docstrings = {
        node.body[0].value.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
        and isinstance(node.body[0], ast.Expr)
    }
    for token in tokenize.generate_tokens(StringIO(text).readline):
        line = token.start[0]
        found: list[str] = []
        if token.type == tokenize.NAME and token.string not in ALLOWED:
            words = [part.lower() for part in NAME_PARTS.findall(token.string)]
            found = [word for word in words if word in BANNED_NAMES or BANNED_WORDS.fullmatch(word)]
            found += [match[1] for match in BANNED_IN_NAMES.finditer(token.string)]
        elif token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and (path.parts[0] == "src" or line in docstrings)
        ):
            text = " ".join(token.string.split())
            found = [match[0] for match in find_banned(text)]
        for word in found:
            if (path.as_posix(), word.lower()) not in ALLOWED_IN:
                yield f"{path}:{line}: '{word}': use a plain word (docs/glossary.md)"


sys.exit("\n".join(sorted(set(private_words()))) or 0)
