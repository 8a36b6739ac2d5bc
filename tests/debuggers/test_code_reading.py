"""The instructions of a code as the probe reads them: those that `dis` lists."""

from __future__ import annotations

import argparse
import ast
import asyncio.base_events
import configparser
import dataclasses
import dis
import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry as _entry

probe: Any = _entry

MODULES = (argparse, ast, asyncio.base_events, configparser, dataclasses, inspect, typing)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_they_are_those_that_dis_lists(module: types.ModuleType) -> None:
    found = 0
    for code in codes_of(compile(inspect.getsource(module), "<code>", "exec")):
        listed, read = list(dis.get_instructions(code)), probe.instructions_of(code)
        assert [facts(one) for one in read] == [facts(one) for one in listed]
        found += len(read)
    assert found > 1000


def test_an_argument_may_take_several_bytes() -> None:
    names = [f"name_{number}" for number in range(70_000)]
    source = "\n".join(names)
    code = compile(source, "<code>", "exec")
    read = probe.instructions_of(code)
    assert [one.argval for one in read if one.opname == "LOAD_NAME"] == names
    assert [facts(one) for one in read] == [facts(one) for one in dis.get_instructions(code)]


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def facts(one: Any) -> tuple[object, ...]:
    """What is asked of an instruction. Before 3.13 `dis` tells nothing of the names of keywords."""
    value = None if one.opname == "KW_NAMES" else one.argval
    sign = one.argrepr if one.opname == "BINARY_OP" else ""
    line = probe.begun_line(one)
    return one.opname, one.opcode, one.arg, type(value), value, sign, one.offset, line
