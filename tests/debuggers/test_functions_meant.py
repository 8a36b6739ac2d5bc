"""Whether a name is that of the function which is called: found once for each code, as its module says that it is."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry

probe: Any = entry


def frame_in(namespace: dict[str, Any], code: Any) -> Any:
    return types.FunctionType(code, namespace)()


def test_a_name_is_compared_once_for_a_code_in_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    def total() -> Any:
        return sys._getframe()

    asked: list[Any] = []
    real = probe._is_defined_so

    def counted(function: Any, frame: Any) -> bool:
        asked.append(frame.f_code)
        return bool(real(function, frame))

    monkeypatch.setattr(probe, "_is_defined_so", counted)
    code = total.__code__.replace(co_name="total")
    path = probe.qualified_name(frame_in({"sys": sys, "__name__": "shop"}, code))
    function = probe.FunctionTarget("1", f"shop.{path}")
    other = probe.FunctionTarget("2", "shop.Cart.total")
    for _ in range(3):
        assert probe.is_defined_so(function, frame_in({"sys": sys, "__name__": "shop"}, code))
        assert not probe.is_defined_so(other, frame_in({"sys": sys, "__name__": "shop"}, code))
    assert len(asked) == 2
    # The same code, run in the names of another module, is another function.
    assert not probe.is_defined_so(function, frame_in({"sys": sys, "__name__": "till"}, code))
    assert probe.is_defined_so(function, frame_in({"sys": sys, "__name__": "shop"}, code))
    made = code.replace(co_filename="<string>")  # by `exec`: the module may come yet
    for _ in range(2):
        assert probe.is_defined_so(function, frame_in({"sys": sys, "__name__": "shop"}, made))
    assert len(asked) == 6
