"""Values and expressions that do harm when they are looked at.

Whatever a look does to the program, it is answered in its time. If the program still stands at its
stop afterwards, the next look is answered exactly, and it runs to its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import trio

from tests.e2e.api import Refused
from tests.faults.trials.endings import ENDED
from tests.faults.trials.fault import Act, End, Fault, Moment
from tests.faults.trials.findings import Harm
from tests.faults.trials.lane import REQUEST_SECONDS
from tests.faults.trials.trial import Trial

PATIENCE = REQUEST_SECONDS + 10.0
"""Seconds after which a look is late: one question may take so long, and the machine is busy."""

VALUE = """
class Bad:
    def __repr__(self):
        {does}

bad = Bad()
beside = 17
ready = "to look"  # @look
say(3)
"""

REPRS = {
    "hangs": "time.sleep(600)",
    "never ends": "while True: pass",
    "raises": "raise ValueError('no repr')",
    "raises SystemExit": "sys.exit(3)",
    "raises KeyboardInterrupt": "raise KeyboardInterrupt",
    "raises BaseException": "raise BaseException('base')",
    "recurses": "return repr(self)",
    "is no text": "return 5",
    "is 100 MB": "return 'x' * 100_000_000",
}

SURVIVED = {
    "hangs": ("__import__('time').sleep(600)", "DEBUGPY_TIMEOUT"),
    "never ends": ("[0 for _ in iter(int, 1)]", "DEBUGPY_TIMEOUT"),
    "exits": ("exit(3)", "SystemExit"),
    "is interrupted": ("(_ for _ in ()).throw(KeyboardInterrupt)", "KeyboardInterrupt"),
    "raises BaseException": ("(_ for _ in ()).throw(BaseException('base'))", "BaseException"),
    "recurses": ("(lambda f: f(f))(lambda f: f(f))", "RecursionError"),
    "is 100 MB": ("'x' * 100_000_000", '"result"'),
    "is a syntax error": ("1 +", "EVALUATE_ERROR"),
    "is deep": ("(" * 300 + "1" + ")" * 300, "EVALUATE_ERROR|error"),
    "starts a thread": (
        "__import__('threading').Thread(target=hang, daemon=True).start()",
        '"result": "None"',
    ),
}
"""Expressions after which the program goes on, each with a pattern of its answer."""

DEADLY = {
    "os._exit": ("os._exit(8)", End("terminated", 8, "code 8")),
    "SIGKILL": ("os.kill(os.getpid(), 9)", End("terminated", -9, "SIGKILL")),
    "segmentation fault": (
        "__import__('ctypes').string_at(0)",
        End("terminated", -11, "SIGSEGV"),
    ),
    "abort": ("os.abort()", End("terminated", -6, "SIGABRT")),
}
"""Expressions that end the program, and how."""


def evaluates(expression: str, answered: str = "") -> Act:
    """Evaluate it at the stop; the answer has the pattern."""

    async def act(trial: Trial) -> None:
        answer = await _look(trial, "/evaluate", expression=expression)
        if not re.search(answered, answer):
            trial.findings.add(Harm.REASON, f"on {trial.rung} the answer was {answer[:300]}")
        if not trial.fault.name.startswith("deadly"):
            await _goes_on(trial)

    return act


async def looks_at_locals(trial: Trial) -> None:
    """At a stop beside the bad value: all of the locals, and the report; others are right."""
    line = trial.program.line("look")
    await _look(trial, "/run-to", file=trial.program.text, line=line, wait=30)
    scopes = json.loads(await _get(trial, "/scopes?frame_id=0"))
    reference = scopes["scopes"][0]["variables_reference"]
    variables = await _get(trial, f"/variables?variables_reference={reference}&count=1000")
    for text in (variables, await _get(trial, "/report")):
        if not re.search(r"beside\W.*\b17\b", text) and "DEBUGPY_TIMEOUT" not in text:
            trial.findings.add(Harm.REASON, f"on {trial.rung} the locals were {text[:300]}")
    await _goes_on(trial)


async def _goes_on(trial: Trial) -> None:
    """It still stands there, answers exactly, and runs on when it is asked to."""
    answer = await _look(trial, "/evaluate", expression="6 * 7")
    if '"42"' not in answer:
        trial.findings.add(Harm.REASON, f"on {trial.rung} the next answer was {answer[:300]}")
    trial.waiters.start("continue", trial.resume)


async def _look(trial: Trial, path: str, **body: object) -> str:
    """The answer as text, be it one or an error; a finding if it is late."""
    return await _answer(trial, "POST", path, body)


async def _get(trial: Trial, path: str) -> str:
    return await _answer(trial, "GET", path, None)


async def _answer(trial: Trial, method: str, path: str, body: object) -> str:
    with trio.move_on_after(PATIENCE):
        try:
            call = trial.session.api.call(method, trial.session.path + path, json=body)
            return json.dumps(await call)
        except Refused as refused:
            return f"{refused.code}: {refused.message}"
    trial.findings.add(Harm.WAITER, f"{path} was not answered within {PATIENCE:g} s")
    return "nothing"


def _at_stop(name: str, act: Act, body: str = "say(3)", ends: Sequence[End] = (ENDED,)) -> Fault:
    return Fault(
        "bad values" if "repr" in name else "bad expressions", name, ends, body, Moment.STOP, act
    )


LOOKS = [
    *(
        _at_stop(f"repr {name}", looks_at_locals, VALUE.format(does=does))
        for name, does in REPRS.items()
    ),
    *(_at_stop(name, evaluates(*both)) for name, both in SURVIVED.items()),
    *(
        _at_stop(f"deadly: {name}", evaluates(expression), ends=[end])
        for name, (expression, end) in DEADLY.items()
    ),
]
