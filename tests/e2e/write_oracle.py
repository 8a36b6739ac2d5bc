"""An independent, slow witness of writes: looks at every object after every event of a plain run."""

from __future__ import annotations

import json
import os
import runpy
import sys
from typing import Any

ABSENT: Any = object()


class Witness:
    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.owners: dict[int, list[Any]] = {}
        self.hits = 0
        self.codes: dict[Any, bool] = {}

    # What is looked at

    def value(self, owner: Any) -> Any:
        kind, key = self.spec["kind"], self.spec["key"]
        if kind == "attribute":
            space = getattr(owner, "__dict__", {})
            if key in space:
                return space[key]
            slot = getattr(type(owner), key, None)
            if type(slot).__name__ == "member_descriptor":
                return getattr(owner, key, ABSENT)
            return ABSENT
        if kind == "item":
            return owner.get(key, ABSENT)
        if kind == "global":
            return owner.get(key, ABSENT)
        return owner.f_locals.get(key, ABSENT)

    def is_owner(self, value: Any) -> bool:
        if self.spec["kind"] == "attribute":
            return bool(type(value).__name__ == self.spec["type"])
        return (
            self.spec["kind"] == "item" and type(value) is dict and bool(self.spec["key"] in value)
        )

    def find(self, frame: Any, place: Any) -> None:
        kind = self.spec["kind"]
        if kind == "local":
            if frame.f_code.co_name == self.spec["function"] and frame.f_code.co_filename.endswith(
                self.spec["file"]
            ):
                self.meet(frame, place)
            return
        if kind == "global":
            if frame.f_globals.get("__name__") == self.spec["module"]:
                self.meet(frame.f_globals, place)
            return
        # On 3.12, to look at a module's variables inside its comprehensions breaks those.
        if frame.f_code.co_name == "<module>" and frame.f_globals["__name__"] != "__main__":
            return
        for value in list(frame.f_locals.values()):
            if self.is_owner(value):
                self.meet(value, place)

    def meet(self, owner: Any, place: Any) -> None:
        if id(owner) not in self.owners:
            self.owners[id(owner)] = [owner, ABSENT, None, []]

    # Events

    def look(self, place: Any) -> None:
        for record in list(self.owners.values()):
            owner, old, old_text, log = record
            new = self.value(owner)
            if new is old:
                continue
            text = None if new is ABSENT else repr(new)
            same = type(new) is type(old) and new is not ABSENT and new == old
            if not same:
                log.append([old_text, text, place[0], place[1], place[2]])
            record[1], record[2] = new, text

    def trace(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "call":
            back = frame.f_back
            place = self.place(back) if back is not None else ["?", 0, "?"]
            self.find(frame, place)
            if self.spec["kind"] == "local" and id(frame) in self.owners:
                place = [
                    frame.f_code.co_filename,
                    frame.f_code.co_firstlineno,
                    frame.f_code.co_name,
                ]
            self.look(place)
            last = [frame.f_lineno]

            def local(frame: Any, event: str, arg: Any) -> Any:
                place = [frame.f_code.co_filename, last[0], frame.f_code.co_name]
                self.find(frame, place)
                self.look(place)
                if event == "line":
                    last[0] = frame.f_lineno
                    self.maybe_stop(frame)
                if event == "return":
                    self.look(place)
                return local

            return local
        return None

    def place(self, frame: Any) -> Any:
        return [frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name]

    def maybe_stop(self, frame: Any) -> None:
        spec = self.spec
        if frame.f_lineno != spec["stop_line"] or not frame.f_code.co_filename.endswith(
            spec["file"]
        ):
            return
        self.hits += 1
        if self.hits != spec["hit"]:
            return
        sys.settrace(None)
        owner = (
            frame
            if spec["kind"] == "local"
            else eval(spec["owner"], frame.f_globals, frame.f_locals)
        )
        if spec["kind"] == "global":
            owner = owner.__dict__
        record = self.owners.get(id(owner))
        os.write(1, b"\n" + json.dumps(record[3] if record else None).encode() + b"\n")
        os._exit(0)


def main() -> None:
    spec = json.loads(sys.argv[1])
    script = sys.argv[2]
    sys.argv[:] = [script]
    witness = Witness(spec)
    sys.path[0] = os.path.dirname(script)
    sys.settrace(witness.trace)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
