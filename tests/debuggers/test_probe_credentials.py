"""What is a credential by its shape, what is not, and what is masked of it in a text."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import textwrap
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.debuggers.debugpy.debuggee.probe.values.credentials import (
    credential_spans,
    last_word_from,
    open_from,
    without_credentials,
)

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


def some(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    """A text of so many characters, the first and last of them letters or digits."""
    inner = st.text(alphabet, min_size=least - 2, max_size=(most or least) - 2)
    ends = st.sampled_from([one for one in alphabet if one.isalnum()])
    return st.builds("{}{}{}".format, ends, inner, ends)


def part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def after(*beginnings: str, rest: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(str.__add__, st.sampled_from(beginnings), rest)


JWT = st.builds(
    lambda user, signature: ".".join(
        [
            part(b'{"alg":"HS256","typ":"JWT"}'),
            part(json.dumps({"sub": user}).encode()),
            part(signature),
        ]
    ),
    st.text(max_size=20),
    st.binary(min_size=32, max_size=64),
)

CREDENTIALS = {
    "aws": after("AKIA", "ASIA", rest=some(UPPER, 16)),
    "google": after("AIza", rest=some(URLSAFE, 35)),
    "google oauth": after("ya29.", rest=some(URLSAFE, 40, 80)),
    "google client": after("GOCSPX-", rest=some(URLSAFE, 28)),
    "azure client": st.builds("{}8Q~{}".format, some(ALNUM, 3), some(ALNUM + "_~.-", 34)),
    "azure storage": st.builds("{}+ASt{}==".format, some(ALNUM, 76), some(BASE64, 4)),
    "azure models": st.builds("{}JQQJ99{}".format, some(ALNUM, 52), some(ALNUM, 26)),
    "github": after("ghp_", "gho_", "ghu_", "ghs_", "ghr_", rest=some(ALNUM, 36)),
    "github fine": st.builds("github_pat_{}_{}".format, some(ALNUM, 22), some(ALNUM, 59)),
    "gitlab": after("glpat-", "glrt-", "gldt-", rest=some(URLSAFE, 20)),
    "slack": st.builds(
        "xox{}-{}-{}-{}".format,
        st.sampled_from("abp"),
        some(string.digits, 11),
        some(string.digits, 11),
        some(ALNUM, 24),
    ),
    "slack app": st.builds(
        "xapp-1-A{}-{}-{}".format, some(UPPER, 10), some(HEX, 13), some(HEX, 64)
    ),
    "stripe": after("sk_live_", "sk_test_", "rk_live_", rest=some(ALNUM, 24, 99)),
    "npm": after("npm_", rest=some(ALNUM, 36)),
    "pypi": after("pypi-AgEIcHlwaS5vcmc", rest=some(URLSAFE, 50, 150)),
    "openai": after("sk-", rest=some(ALNUM, 48)),
    "openai project": after("sk-proj-", "sk-svcacct-", rest=some(URLSAFE, 40, 150)),
    "anthropic": after("sk-ant-api03-", rest=some(URLSAFE, 90, 95)),
    "jwt": JWT,
}

AROUND = [
    "{}",
    "key={}",
    "before {} after",
    "'{}'",
    '{{"token": "{}"}}',
    "first\\n{}\\nlast",
    "first\n{}\nlast",
    "https://example.org/?k={}&x=1",
    "({}, 1)",
    "Bearer {}",
    "größe {}.",
]

BOTH = st.sampled_from(sorted(CREDENTIALS)).flatmap(CREDENTIALS.__getitem__)


@pytest.mark.parametrize("kind", CREDENTIALS)
@given(st.data())
def test_a_credential_is_found_wherever_it_stands(kind: str, data: st.DataObject) -> None:
    credential = data.draw(CREDENTIALS[kind])
    around = data.draw(st.sampled_from(AROUND))
    text = without_credentials(around.format(credential))
    assert credential not in text
    # What surrounds it stays, but for what may as well belong to it.
    assert text.rstrip(".") == around.format("***").rstrip(".")


def test_a_token_without_any_digit_is_found() -> None:
    token = "ya29.aAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAa"
    assert without_credentials(token) == "***"


@given(BOTH, BOTH)
def test_several_are_found_each(one: str, other: str) -> None:
    assert without_credentials(f"{one} and {other}") == "*** and ***"
    assert without_credentials(repr([one, other])) == "['***', '***']"


@given(st.text(ALNUM, min_size=600, max_size=1800), st.sampled_from(["", "RSA ", "OPENSSH "]))
def test_of_a_private_key_the_lines_are_masked(letters: str, kind: str) -> None:
    begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    lines = textwrap.wrap(letters, 64)
    key = "\n".join([begin, *lines, end])
    assert without_credentials(f"a\n{key}\nb") == f"a\n{begin}\n***\n{end}\nb"
    assert without_credentials(repr(key)) == repr(f"{begin}\n***\n{end}")
    assert without_credentials(" ".join([begin, *lines, end])) == f"{begin} *** {end}"
    # Its end may be missing where a text was cut.
    assert without_credentials("\n".join([begin, *lines[:3]])) == f"{begin}\n***"


WORDS = st.text(ALNUM + "-_.~!$&()*+,;=", min_size=1, max_size=30)


@given(
    st.sampled_from(["postgresql", "https", "amqp", "redis"]),
    st.text(ALNUM + "-_.", max_size=12),
    WORDS.filter(lambda word: word[0].isalnum()),
    st.sampled_from(["localhost:5432/shop", "db.example.org", "[::1]/0"]),
)
def test_of_an_address_the_password_is_masked(
    scheme: str, user: str, password: str, host: str
) -> None:
    text = without_credentials(f"to {scheme}://{user}:{password}@{host}, say")
    assert text == f"to {scheme}://{user}:***@{host}, say"


AWS_EXAMPLE = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
WITH_MARKS = {
    f"aws_secret_access_key = {AWS_EXAMPLE}": "aws_secret_access_key = ***",
    f'"AWS_SECRET_ACCESS_KEY": "{AWS_EXAMPLE}"': '"AWS_SECRET_ACCESS_KEY": "***"',
    f"AccountName=a;AccountKey={'Ab3/' * 21}Ab==;X=y": "AccountName=a;AccountKey=***;X=y",
    f"Endpoint=sb://a/;SharedAccessKey={'Ab3+' * 10}Abc=": "Endpoint=sb://a/;SharedAccessKey=***",
    f"?sv=2022&sig={'aB3%2F' * 8}%3D&se=1": "?sv=2022&sig=***&se=1",
    "https://hooks.slack.com/services/T0000AAAA/B0000AAAA/" + "aB3d" * 6: (
        "https://hooks.slack.com/services/***"
    ),
}


@pytest.mark.parametrize("text", WITH_MARKS)
def test_keys_without_a_shape_are_found_by_the_marks_beside_them(text: str) -> None:
    assert without_credentials(text) == WITH_MARKS[text]


PICTURE = base64.b64encode(random.Random(1).randbytes(300_000)).decode()
ORDINARY = [
    PICTURE,
    base64.urlsafe_b64encode(random.Random(2).randbytes(300_000)).decode(),
    base64.encodebytes(random.Random(3).randbytes(30_000)).decode(),
    hashlib.sha256(b"x").hexdigest(),
    hashlib.sha512(b"x").hexdigest(),
    str(uuid.UUID(int=2**100 + 12345)),
    "https://example.org:8080/a@b?c=d:e@f",
    "http://localhost:8000 and me@example.org",
    "git@github.com:owner/repository.git",
    "postgres://user@host/db, postgres://{user}:{password}@{host}/db, ://$USER:$PASSWORD@host",
    "sk-learn task-force-of-the-north-sk-elsewhere risk-assessment-of-the-year",
    "ghp_short npm_config_cache hf_transfer pypi-attestations-package-of-them-all",
    "eyJhbGciOiJIUzI1NiJ9 alone.is.no.token",
    "AKIAshort ASIATIC AIzawa AKIAABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "xoxo-and-much-love-to-you-all xoxb-not-a-token-at-all",
    "'-----BEGIN PRIVATE KEY-----' is how one begins\nand so on",
    "-----BEGIN CERTIFICATE-----\n" + PICTURE[:64] + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + PICTURE[:64] + "\n-----END PUBLIC KEY-----",
    "a_rather_long_name_of_a_function.another_long_name_of_a_thing(argument_of_it)",
    "=" * 200 + "-" * 200 + "." * 200,
]


@pytest.mark.parametrize("text", ORDINARY, ids=range(len(ORDINARY)))
def test_ordinary_texts_stay(text: str) -> None:
    assert without_credentials(text) is text
    assert without_credentials(repr(text)) == repr(text)


@given(st.binary(max_size=400), st.uuids(), st.text(max_size=200))
def test_random_texts_stay(data: bytes, number: uuid.UUID, text: str) -> None:
    for one in (data.hex(), base64.b64encode(data).decode(), str(number), text):
        assert without_credentials(one) == one


def test_long_texts_are_searched_in_time() -> None:
    # Seconds would be quadratic in one of these; the suite's own time limit would tell.
    for word in (
        "ghp_",
        "eyJ.",
        "://a:",
        "-----BEGIN PRIVATE KEY-----\n",
        "sk-",
        "AKIA",
        "Q~",
        "\\n",
    ):
        text = word * (200_000 // len(word))
        credential_spans(text)
        open_from(text)


@pytest.mark.parametrize("kind", CREDENTIALS)
@given(st.data())
def test_the_beginning_of_one_is_known_for_what_it_is(kind: str, data: st.DataObject) -> None:
    credential = data.draw(CREDENTIALS[kind])
    size = data.draw(st.integers(1, len(credential)))
    begun = "key: " + credential[:size]
    if "azure" not in kind:  # which are known by their middle
        assert open_from(begun) == 5
    assert last_word_from(begun) == 5
    assert open_from(begun + "\n") == len(begun) + 1


def test_nothing_is_waited_for_after_ordinary_words() -> None:
    for text in (
        "Name: ",
        "loading...",
        "a\nb",
        "50%",
        "> ",
        "",
        "http://localhost:80/0",
        "x" * 9000,
    ):
        assert open_from(text) == len(text)
