"""One list decides which names look like names of secrets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pegboard
from pegboard.display.readable import to_readable
from pegboard.json_schema.value_text import format_value
from pegboard.kinds.credentials import Credentials, list_request_secrets
from pegboard.model.secrets import HIDDEN, MASK, is_credential_parameter, is_secret_name
from pegboard.telemetry.logs import redact_secrets

NO_CREDENTIALS = Credentials({}, {}, {}, ())
SOURCE = Path(pegboard.__file__).parent
SECRET = (
    "password", "PASSWD", "passphrase", "userPassword", "pw", "pwd", "pass", "db_pass", "passcode", "secret",
    "clientSecret", "token", "accesstoken", "access_token", "accessTokens", "X-CSRF-Token", "tokenValue", "bearer",
    "api_key", "apiKey", "APIKey", "x-api-key", "apikey", "access-key", "privateKey", "private_key_pem", "sshKey",
    "signing_key", "account key", "Subscription-Key", "Authorization", "authorisation", "Proxy-Authorization", "auth",
    "oauth2", "credential", "creds", "cookie", "Set-Cookie", "jwt", "session", "X-Session", "session_id", "sessionId",
    "PHPSESSID", "signature", "pin", "pin_code", "otp", "cvv", "APIkey", "X-APIkey", "SECRETkey",
    "ACCESSkey", "AUTHcode",
    "PassWord", "passPhrase", "pass_phrase", "pass-word", "tokens", "csrf_tokens", "my_tokens", "pin_1", "user_pass_2",
)  # fmt: skip
ORDINARY = (
    "max_tokens", "maxTokens", "inputTokens", "promptTokens", "total_tokens", "token_count", "tokenizer", "tokenise",
    "monkey", "key", "keys", "keyword", "primary_key", "sort-key", "sid", "author", "authors", "X-Authors", "authority",
    "pinned", "pin_count", "spin", "compass", "passenger", "passed", "passes", "bypass", "sessions", "session_count",
    "obsession", "design", "signal", "id", "name", "city", "note", "",
)  # fmt: skip

_USUAL_SECRET = re.compile(r"passw|(?:^|\|)(?:token|secret|api.{0,6}key|cookie)\b|\\\{secret:")


@pytest.mark.parametrize("name", SECRET)
def test_a_name_that_looks_secret_is_secret_everywhere(name: str) -> None:
    assert is_secret_name(name)
    assert is_credential_parameter(name)
    assert to_readable({name: "qwertyuiop"}) == {name: MASK}
    assert redact_secrets({name: "qwertyuiop"}) == {name: HIDDEN}
    assert "qwertyuiop" not in format_value({name: "qwertyuiop"})


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_name_is_not_secret_anywhere(name: str) -> None:
    assert not is_secret_name(name)
    assert to_readable({name: "qwertyuiop"}) == {name: "qwertyuiop"}
    assert redact_secrets({name: "qwertyuiop"}) == {name: "qwertyuiop"}
    assert "qwertyuiop" in format_value({name: "qwertyuiop"})


def test_a_number_of_tokens_is_displayed() -> None:
    assert to_readable({"tokens": 500, "pin": 1234}) == {"tokens": 500, "pin": MASK}


@pytest.mark.parametrize("name", ["key", "sig", "sid", "appid", "tokens", "sessionToken", "user-sessions"])
def test_in_a_request_more_names_mark_a_credential(name: str) -> None:
    assert is_credential_parameter(name)
    assert "qwertyuiop" in list_request_secrets(NO_CREDENTIALS, {}, f"{name}=qwertyuiop")


def test_only_one_module_has_patterns_of_secret_names() -> None:
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if any(_list_patterns(path))}
    assert found == {"model/secrets.py"}


def _list_patterns(path: Path) -> Iterator[str]:
    """Yield the texts of a module that are a regular expression and match a usual secret or a reference."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if re.search(r"\\|\(\?|[|\]]", text) and _USUAL_SECRET.search(text):
            yield text
