"""Joins the session of the program that started this one, then leaves without a trace.

Found by a new interpreter on its PYTHONPATH, see `probe/process/inherit.py`; run by whatever Python it is.
The program's own sitecustomize is run afterwards, or missed as it would have been.
"""

import os
import sys


def _join():
    # type: () -> None
    text = os.environ.pop("DEBUG_RELAY_CHILD", None)
    here = os.path.dirname(__file__)
    rest = [entry for entry in os.environ.pop("PYTHONPATH", "").split(os.pathsep) if entry != here]
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    sys.path_importer_cache.pop(here, None)
    if text is None or sys.version_info < (3, 8) or sys.implementation.name != "cpython":
        return
    import importlib.machinery
    import json
    import types

    spec = json.loads(text)
    path = os.path.join(spec["code"], "child.py")
    module = types.ModuleType("_debug_relay_child")
    module.__file__ = path
    loader = importlib.machinery.SourceFileLoader("_debug_relay_child", path)
    exec(loader.get_code("_debug_relay_child") or "", module.__dict__)
    module.join(spec)


try:  # noqa: SIM105 - nothing is imported that the program has not asked for
    _join()
except Exception:  # noqa: BLE001 - without the debugger, the program must run all the same
    pass
sys.modules.pop("sitecustomize", None)
__import__("sitecustomize")  # the program's own, or an ImportError, which Python expects
