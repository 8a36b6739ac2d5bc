"""pydevd for the debuggee: found, imported without a trace, checked name by name.

Knows where a debugpy may lie, what its import changes in the process, and every private name
that `link.py` uses. Starts nothing, and knows nothing of sockets and programs.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import importlib.util
import itertools
import os
import re
import sys
import threading
import types
import warnings
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# Read by pydevd while it is imported; the program never sees them.
SETTINGS = {
    "PYDEVD_USE_FRAME_EVAL": "NO",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # At the default of 3 s, pydevd lets the other threads run when a repr is slow.
    "PYDEVD_UNBLOCK_THREADS_ON_VARIABLES_TIMEOUT": "-1",
    "PYDEVD_WARN_EVALUATION_TIMEOUT": "86400",
    "PYDEVD_WARN_SLOW_RESOLVE_TIMEOUT": "86400",
}

# Every name of pydevd that the bootstrap uses, the probe aside: where it lives, and what it is.
USED_NAMES = {
    "pydevd": "PyDB PyDevdAPI PyDevJsonCommandProcessor NetCommand ReaderThread WriterThread"
    " process_net_command set_global_debugger settrace stoptrace get_current_thread_id"
    " PYDEVD_USE_SYS_MONITORING",
    "pydevd:PyDB": "block_until_configuration_done patch_threads enable_tracing"
    " notify_thread_created add_dap_messages_listener _create_pydb_command_thread"
    " set_trace_for_frame_and_parents",
    "pydevd:PyDevdAPI": "set_dont_trace_start_end_patterns",
    "pydevd:ReaderThread": "_on_run _terminate_on_socket_close",
    "pydevd:WriterThread": "_on_run add_command do_kill_pydev_thread",
    "pydevd_tracing": "SetTrace restore_sys_set_trace_func",
    "_pydev_bundle.pydev_monkey": "undo_patch_thread_modules",
    "_pydev_bundle.pydev_log:_LoggingGlobals": "_debug_stream _debug_stream_initialized",
    "_pydevd_bundle.pydevd_comm_constants": "CMD_EXIT CMD_RETURN",
    "_pydevd_bundle.pydevd_constants": "PYDEVD_USE_SYS_MONITORING SUPPORT_GEVENT",
    "_pydevd_bundle.pydevd_utils": "SUPPORT_GEVENT",
    "_pydevd_sys_monitoring.pydevd_sys_monitoring": "stop_monitoring",
}

# Half-open; the one place that says it. 1.8.21 is the first that answers an evaluate without a frame.
SUPPORTED = ((1, 8, 21), (1, 9, 0))


class UnfitError(Exception):
    """This interpreter's pydevd is not one that the bootstrap was written for."""


def load_pydevd(
    fallback: str, keep: Callable[[dict[str, Any]], None], own: Any
) -> tuple[types.ModuleType, Any]:
    """pydevd of the interpreter's own debugpy, or of the one in directory `fallback`, and a PyDB.

    keep: called ahead of that, when pydevd is imported; own: the built-in functions that it gets.
    Raises UnfitError when neither is supported, or pydevd lacks a name that the bootstrap uses.
    """
    with _untouched_process(), own.given_to_pydevd():
        package = _own_debugpy()
        if not is_supported(installed_version(package)):
            package = os.path.join(fallback, "debugpy")
            if not is_supported(installed_version(package)):
                raise UnfitError(f"the debugpy in {fallback} is not supported")
            import_package("debugpy", package)
        kept = _keep_from_patches()
        leave_servers_out()
        importlib.import_module("debugpy._vendored.force_pydevd")
        place = os.path.realpath(sys.modules["pydevd"].__file__ or "")
        if not place.startswith(os.path.join(os.path.realpath(package), "")):
            raise UnfitError(f"another pydevd is loaded already: {place}")
        reason = unfit()
        if reason is not None:
            raise UnfitError(reason)
        if kept:  # else it asks on standard error for what is done here
            sys.modules["_pydevd_bundle.pydevd_utils"].SUPPORT_GEVENT = True  # type: ignore[attr-defined]
        keep(own.space)
        pydevd = sys.modules["pydevd"]
        return pydevd, pydevd.PyDB()


FRAMEWORK = "django"

# Of XML-RPC, for pydevd's console: never used here, and a third of the time of its import. A file
# of the program's may have such a name, too.
SAVED_MODULES = "_pydev_bundle._pydev_saved_modules"
SERVERS = ("xmlrpc.client", "xmlrpc.server", "http.server")


class _Later:
    """A module of which only calls are used. It is imported at the first, in sys.modules as ever."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            return getattr(importlib.import_module(self._name), attribute)(*args, **named)

        return call


def leave_servers_out() -> None:
    """Run the one module of pydevd that imports SERVERS with an `import` that puts them off.

    So nothing stands in for them in sys.modules, not even meanwhile: the program's own import of
    them is its first. `debugpy` can be imported.
    """
    if "GEVENT_SUPPORT" in os.environ:  # pydevd makes copies of modules, these too
        return
    vendored: Any = importlib.import_module("debugpy._vendored")
    with vendored.vendored("pydevd"):
        package: Any = importlib.import_module(SAVED_MODULES.partition(".")[0])
        spec = importlib.util.find_spec(SAVED_MODULES)
        if SAVED_MODULES in sys.modules or spec is None or spec.loader is None:
            return
        module: Any = importlib.util.module_from_spec(spec)
        module.__builtins__ = {**vars(builtins), "__import__": _import_or_put_off}
        sys.modules[SAVED_MODULES] = package._pydev_saved_modules = module
        spec.loader.exec_module(module)
    module.__builtins__ = vars(builtins)


def _import_or_put_off(name: str, *details: Any) -> Any:
    if name not in SERVERS or name in sys.modules:
        return __import__(name, *details)
    attribute = name.rpartition(".")[2]
    return types.SimpleNamespace(**{attribute: _Later(name)})


def _keep_from_patches() -> bool:
    """Have pydevd take copies of `threading`, `socket` and others, if the program may patch them.

    gevent and eventlet make a program's threads and locks into greenlets: those of the debugger would
    wait for the very program that it has stopped. Neither is imported for it.
    """
    if "GEVENT_SUPPORT" in os.environ or not (_can_import("gevent") or _can_import("eventlet")):
        return False
    os.environ["GEVENT_SUPPORT"] = "True"
    vendored: Any = importlib.import_module("debugpy._vendored")
    with vendored.vendored("pydevd"):
        constants: Any = importlib.import_module("_pydevd_bundle.pydevd_constants")
        saved: Any = importlib.import_module("_pydev_bundle._pydev_saved_modules")
    constants.SUPPORT_GEVENT = False  # else pydevd imports gevent
    _share_threads(saved.threading)
    return True


def _share_threads(copied: Any) -> None:
    """Have pydevd's copy of `threading` know the program's threads as what they are.

    Most programs beside an installed gevent patch nothing: their threads are threads, by the same
    identifiers. In one that does, the program's are greenlets, by identifiers of their own.
    """
    copied._active = _ActiveThreads(copied._active)
    made_before = copied.Thread

    class AnyThread(type):
        def __instancecheck__(cls, thread: Any) -> bool:
            if cls is not copied.Thread:
                return type.__instancecheck__(cls, thread)
            return isinstance(thread, made_before) or (
                isinstance(thread, threading.Thread) and thread.ident == copied.get_ident()
            )

    copied.Thread = AnyThread("Thread", (made_before,), {"__module__": "threading"})


class _ActiveThreads(dict):  # type: ignore[type-arg]
    """Threads by identifier: those of the copy, and those that only the program's module knows."""

    def get(self, ident: Any, default: Any = None) -> Any:
        return dict.get(self, ident) or threading._active.get(ident, default)  # type: ignore[attr-defined]

    def __missing__(self, ident: Any) -> Any:
        return threading._active[ident]  # type: ignore[attr-defined]

    def values(self) -> Any:
        running = set(sys._current_frames())
        known: Any = threading._active  # type: ignore[attr-defined]
        own = list(dict.values(self))
        return own + [
            known[i] for i in list(known) if i in running and not dict.__contains__(self, i)
        ]


def _can_import(name: str) -> bool:
    with contextlib.suppress(ImportError, ValueError):
        return importlib.util.find_spec(name) is not None
    return False


def unfit(used: Mapping[str, str] = USED_NAMES) -> str | None:
    """Why the imported pydevd cannot be used, or None when every name is there."""
    for place, names in used.items():
        module, _, attribute = place.partition(":")
        try:
            holder: Any = importlib.import_module(module)
            holder = getattr(holder, attribute) if attribute else holder
        except (ImportError, AttributeError) as error:
            return f"{place}: {error}"
        for name in names.split():
            if not hasattr(holder, name):
                return f"{place} has no {name}"
    return None


def _own_debugpy() -> str:
    """The directory of the interpreter's own; a name that leads nowhere if it has none."""
    try:
        found = importlib.util.find_spec("debugpy")
    except (ImportError, ValueError):
        found = None
    return os.path.dirname(found.origin) if found is not None and found.origin else os.devnull


def installed_version(package: str) -> tuple[int, ...] | None:
    """Of the debugpy in that directory, read without importing it."""
    try:
        with open(os.path.join(package, "_version.py"), encoding="utf-8") as file:
            found = re.search(r'"version": "([^"]+)', file.read())
    except OSError:
        return None
    return numbers(found.group(1)) if found else None


def numbers(version: str) -> tuple[int, ...] | None:
    """(major, minor, micro) of a version as text, whatever follows; None if it does not say."""
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in found.groups()) if found else None


def is_supported(version: tuple[int, ...] | None) -> bool:
    """Whether the relay knows a debugpy of that version."""
    return version is not None and SUPPORTED[0] <= version < SUPPORTED[1]


def import_package(name: str, directory: str) -> None:
    """Import the package that lies in that directory."""
    # One that something has imported already stays with whoever has it.
    for loaded in [one for one in sys.modules if one.partition(".")[0] == name]:
        del sys.modules[loaded]
    # By its own path: sys.path must not gain a directory full of other packages.
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(directory, "__init__.py"), submodule_search_locations=[directory]
    )
    if spec is None or spec.loader is None:
        raise UnfitError(f"no {name} in {directory}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


@contextlib.contextmanager
def _untouched_process() -> Iterator[None]:
    """Environment, sys.path, builtins, filters of warnings, and numbers of threads leave as they came;
    FRAMEWORK is not there if it was not.

    SETTINGS hold inside.
    """
    environment, path, names = dict(os.environ), list(sys.path), set(vars(builtins))
    had_framework = FRAMEWORK in sys.modules
    os.environ.update(SETTINGS)
    collects = gc.isenabled()
    gc.disable()  # hundreds of modules come and stay: nothing to collect
    try:
        with warnings.catch_warnings(), own_thread_numbers():
            warnings.simplefilter("ignore")
            yield
    finally:
        if collects:
            gc.enable()
        sys.path[:] = path
        if not had_framework:
            _forget_framework()
        _restore_environment(environment)
        for name in set(vars(builtins)) - names:
            delattr(builtins, name)


def _forget_framework() -> None:
    """pydevd imports it to learn its version. The program's own import is its first, as ever."""
    for name in [name for name in sys.modules if name.partition(".")[0] == FRAMEWORK]:
        del sys.modules[name]


@contextlib.contextmanager
def own_thread_numbers() -> Iterator[None]:
    """Threads that are made inside take no number (`Thread-1`) from those of the program."""
    count: Any = threading
    numbers, count._counter = count._counter, itertools.count(1).__next__
    try:
        yield
    finally:
        count._counter = numbers


def _restore_environment(environment: dict[str, str]) -> None:
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    for name, value in environment.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
