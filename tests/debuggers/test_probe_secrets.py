"""Which names are secret, what is masked in texts, and that the probe's files do not collide."""

from __future__ import annotations

import pytest

from relay.config import ConfigurationError, load_settings
from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
    DEFAULT_PATTERNS,
    names_in,
    scrub,
    scrub_words,
    secret_names,
    without,
)
from relay.debuggers.debugpy.source_names import name_at

is_secret = secret_names(DEFAULT_PATTERNS)

SECRET = [
    "password",
    "PASSWORD",
    "db_password",
    "dbPassword",
    "passwords",
    "userpasswd",
    "pwd",
    "secret",
    "client_secret",
    "secretKey",
    "token",
    "access_token",
    "accessToken",
    "authtoken",
    "token2",
    "API_KEY",
    "apiKey",
    "apikey",
    "X-Api-Key",
    "my_api_key_2",
    "AWS_SECRET_ACCESS_KEY",
    "private_key",
    "Authorization",
    "Set-Cookie",
    "credentials",
    "__password",
]
PLAIN = [
    "tokens",
    "token_offset",
    "token_type",
    "tokenCount",
    "password_length",
    "passwordless",
    "api_key_id",
    "secret_santa",
    "tokenizer",
    "keyboard",
    "author",
    "authorizations_made",
    "key",
    "monkey",
    "api",
    "apis",
    "path",
    "pass_",
    "user",
    "compass",
    "cookies_eaten",
    "secre",
    "x",
]


def test_secrets_are_known_by_whole_words_in_every_spelling() -> None:
    assert [name for name in SECRET if not is_secret(name)] == []
    assert [name for name in PLAIN if is_secret(name)] == []
    assert not is_secret("password" * 1000)
    own = secret_names(["userId", "*pin", "größe"])
    assert [n for n in ("user_id", "USERID", "userid2", "mypin", "Größe") if not own(n)] == []
    assert [n for n in ("user", "pinned", "id", "password") if own(n)] == []
    assert not secret_names([])("password")


TEXTS = {
    "User(name='ann', password='x y')": "User(name='ann', password=***)",
    'User(password="it\'s", n=1)': "User(password=***, n=1)",
    '{"api_key": "x", "n": 1}': '{"api_key": ***, "n": 1}',
    r"{\"api_key\": \"x\"}": r"{\"api_key\": ***}",
    "Authorization: Bearer abc.def": "Authorization: ***",
    "?user=1&access_token=abc&x=2": "?user=1&access_token=***&x=2",
    "password=None, token=''": "password=None, token=''",
    "self.password = b'x'": "self.password = ***",
    "no secret here: token": "no secret here: token",
    # A comparison is no assignment, and what it compares with may be the secret.
    'password == "x y" and n == "z"': 'password == *** and n == "z"',
    "if user.token=='x': pass": "if user.token==***: pass",
    "password != 'x'": "password != ***",
    "password === 'x'": "password === ***",
    "password == f'{x} y'": "password == ***",
    "password == guess": "password == ***",
    "password == None or token == 9": "password == None or token == 9",
    "password == check(n)": "password == check(n)",
    "(password ==)": "(password ==)",
    "len(password) == 8": "len(password) == 8",
    # So do other signs not begin a value.
    "while password := 'x y'": "while password := ***",
    "password += 'x y'": "password += ***",
    "d['password'] = 'x y'": "d['password'] = ***",
    'd["password"] == "x y"': 'd["password"] == ***',
    "password = u'x y'": "password = ***",
    "password====x": "password====***",
    "--password=x, password: x": "--password=***, password: ***",
    "T(token=9, password=-1.5e3, secret=None)": "T(token=9, password=-1.5e3, secret=None)",
    "T(token=Token('x', 1), secret=[1], n=1)": "T(token=Token('x', 1), secret=[1], n=1)",
    "T(token=<Token at 0x1>, token_type='x')": "T(token=<Token at 0x1>, token_type='x')",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_lose_what_stands_behind_a_secret_name(text: str) -> None:
    assert scrub(text, is_secret) == TEXTS[text]


def test_long_texts_are_scrubbed_in_time() -> None:
    # Seconds would be quadratic in one of these; the suite's own time limit would tell.
    for text in ("a" * 200_000, "a." * 100_000, "a='" * 70_000, "\\" * 200_000, "token" * 40_000):
        assert scrub(text, is_secret) == text


def test_values_are_found_in_texts_unless_they_are_short() -> None:
    assert without("bad 'two\\nlines' or two\nlines", ["two\nlines", "bad"]) == "bad '***' or ***"


def test_command_lines_lose_the_values_of_secret_options() -> None:
    words = ["--user", "ann", "--password", "x", "--api-key=y", "--token", "--n", "1", "secret=z"]
    assert scrub_words(words, is_secret) == [
        "--user",
        "ann",
        "--password",
        "***",
        "--api-key=***",
        "--token",
        "--n",
        "1",
        "secret=***",
    ]


def test_the_names_of_an_expression_are_found() -> None:
    expression = "f(a.b['key'], 'argument', 'two words')[c] + {'no': d}['x']"
    found = set(names_in(expression))
    assert found == {"f", "a", "b", "key", "argument", "c", "d", "x"}
    assert list(names_in("1 +")) == []


def test_a_pattern_that_names_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_REDACT_PATTERNS", "pin,*")
    with pytest.raises(ConfigurationError, match="names nothing"):
        load_settings()
    monkeypatch.setenv("RELAY_REDACT_PATTERNS", "pin, user_id")
    assert load_settings().redact_patterns == ("pin", "user_id")


LINES = ["total = order.lines[0].price + len(items)  # order", "text = 'order' + f'{order.total}'"]


@pytest.mark.parametrize(
    ("line", "word", "shift", "name"),
    [
        (1, "total", 0, "total"),
        (1, "order", 4, "order"),
        (1, "lines", 2, "order.lines"),
        (1, "price", 2, None),
        (1, "items", 5, "items"),
        (1, "# order", 3, None),
        (2, "'order'", 2, None),
        (2, "order.total", 8, "order.total"),
        (3, "", 0, None),
    ],
)
def test_the_name_at_a_place(line: int, word: str, shift: int, name: str | None) -> None:
    column = LINES[line - 1].index(word) + shift + 1 if line <= len(LINES) else 1
    assert name_at(LINES, line, column) == name
