"""Which names look like names of secrets, and references to named secrets, `{{secret:NAME}}`, in tool definitions.

No other module has a list of such names: what one message hides, every other message hides too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.json_text import map_leaves

# The text in place of a secret. A config with this mask keeps the stored value.
MASK = "********"
# The text in messages and logs in place of the value of a field whose name looks secret.
HIDDEN = "(hidden)"

# `max_tokens` is a number of tokens, `csrf_tokens` are secrets.
_COUNTED_TOKENS = (
    "cached", "completion", "input", "max", "num", "output", "prompt", "reasoning", "thinking", "total", "used"
)  # fmt: skip
# Parts that mark a name wherever they are in it. `author` and `authority` are no secrets, nor are numbers of tokens.
_NAME_PARTS = (
    r"passw|pass_?wo?r?d|pwd|pass_?(?:phrase|code)|secret|credential|cookie|jwt|signature|auth(?!or(?!i[sz]))"
    r"|(?:access|account|api|encryption|master|private|shared|signing|ssh|subscription)_?key(?!board|word)"
    r"|sess(?:ion)?_?id|token(?!s|i[sz]|_(?:budget|count|limit|usage))"
    + "|"
    + "".join(f"(?<!{word})(?<!{word}_)" for word in _COUNTED_TOKENS)
    + "tokens(?!_(?:budget|count|limit|usage|used))"
)
# Whole words that mark a name, and those that mark it only at its end: `pin`, `pin_code`, but not `pin_count`.
_WHOLE_WORDS = "bearer|creds?|cvc|cvv|otp|pw"
_LAST_WORDS = "pass|pin|session"
_SECRET_NAME = re.compile(
    rf"{_NAME_PARTS}|(?:^|_)(?:{_WHOLE_WORDS})(?:$|_)"
    rf"|(?:^|_)(?:{_LAST_WORDS})(?:_(?:code|data|hash|key|number|text|value))?(?:_?[0-9]+)?$"
)
# In a header or a query, these words mark a credential too; as arguments they are too common.
_CREDENTIAL_PARAMETER = re.compile(r"session|token|(?:^|_)(?:key|sig|sid)(?:$|_)|^appid$")
_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[\W_]+")
# A secret in a text, after a label: `password=…`, `"apiKey": "…"`, `Authorization: Basic …`, `--token …`.
_LABELLED_SECRET = re.compile(
    r"((?:passw(?:or)?d|passphrase|pwd|secret|token|credential|cookie|authorization"
    r"|(?:api|access|account|private)[_\- ]?key)(?:s|key|[_-][\w-]{1,20})?+\\{0,4}[\"']?\s*+[:=]\s*+\\{0,4}[\"']?"
    r"|--(?:password|token|secret|api-key)\s++)((?:basic|bearer)\s++)?[^\s\"'\\&;,})\]]+",
    re.IGNORECASE,
)
# Only words that are certainly no secret may be readable in front of a reference.
_SCHEMES = "api-?key|basic|bearer|digest|dpop|jwt|key|negotiate|oauth|privatetoken|ssws|token"
SECRET_REFERENCE = re.compile(r"\{\{secret:([A-Za-z_][A-Za-z0-9_.-]{0,254})\}\}", re.ASCII)
# In a URL, also a reference with an invalid name is not a placeholder for an argument.
REFERENCE_WITH_ANY_NAME = re.compile(r"\{\{secret:[^{}]*\}\}")
# The config keys of every kind whose values may be credentials; they are encrypted at rest.
SECRET_MAPS = ("headers", "env")
# An Authorization value: its scheme, which is no secret, and the credential.
SCHEME_AND_CREDENTIAL = re.compile(rf"(?:({_SCHEMES}) +)?(.*)", re.IGNORECASE | re.DOTALL)
_ONLY_REFERENCE = re.compile(rf"(?i:(?:{_SCHEMES}) +)?{SECRET_REFERENCE.pattern}", re.ASCII)
# Fields for the place of a credential or the name of its user. They are shown if the credential itself is a reference
# to a secret; otherwise they are masked like all other values.
_READABLE_KEYS = ("header_name", "query_name", "username")


def is_secret_name(name: str) -> bool:
    """Return True if the value of an argument, a field, a column or a variable of this name must not be repeated."""
    return any(_SECRET_NAME.search(form) for form in _list_forms(name))


def is_credential_parameter(name: str) -> bool:
    """Return True if a header or query parameter with this name is likely a credential."""
    return any(_SECRET_NAME.search(form) or _CREDENTIAL_PARAMETER.search(form) for form in _list_forms(name))


def mask_labelled_secrets(text: str) -> str:
    """Return the text with the values masked that follow a label such as `password=`."""
    return _LABELLED_SECRET.sub(lambda match: f"{match[1]}{match[2] or ''}{MASK}", text)


def _list_forms(name: str) -> tuple[str, str]:
    """Return the name in lower case with its words separated, and as it is: `APIkey` has no boundary before `key`."""
    return _NO_WORD.sub("_", _CAMEL_BOUNDARY.sub("_", name)).lower(), _NO_WORD.sub("_", name).lower()


def is_only_reference(value: object) -> bool:
    """Return True if the value is only a reference to a named secret, optionally after a scheme such as Bearer."""
    return isinstance(value, str) and _ONLY_REFERENCE.fullmatch(value) is not None


def pick_readable_values(auth: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an auth_config that may be shown: references, and the readable fields beside them."""
    found = _pick_references(auth)
    if found:
        found |= {name: auth[name] for name in _READABLE_KEYS if isinstance(auth.get(name), str)}
    return found


def _pick_references(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            if inner := _pick_references(value):
                found[name] = inner
        elif is_only_reference(value):
            found[name] = value
    return found


def list_secret_names(config: Mapping[str, Any], auth: Mapping[str, Any] | None) -> set[str]:
    """Return the names of the secrets that an unsealed definition refers to."""
    found: set[str] = set()

    def note(name: str) -> str:
        found.add(name)
        return ""

    resolve_references(config, note)
    resolve_references(auth, note)
    return found


def resolve_references(value: Any, secrets: Callable[[str], str]) -> Any:
    """Return the value with every reference in it, at any depth, replaced by the secret of that name.

    Raises SecretUnreadable if there is no such secret.
    """

    def secret(match: re.Match[str]) -> str:
        name = match[1]
        try:
            return secrets(name)
        except KeyError:
            raise SecretUnreadable(
                f"Secret '{name}' does not exist; the tool's owner can set it with: pegboard secrets set {name}"
            ) from None

    # A single pass: references inside a secret's value are not resolved.
    return map_leaves(value, lambda leaf: SECRET_REFERENCE.sub(secret, leaf) if isinstance(leaf, str) else leaf)
