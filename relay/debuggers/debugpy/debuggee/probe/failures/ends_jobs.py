"""Jobs and commands: tasks of celery, rq, dramatiq, huey, taskiq, saq, luigi, doit and Locust,
commands that a runner of click's calls, what cleo, Textual and IPython show and survive.

A job that will be tried again has not failed yet.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed, is_in_test
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        error_under_way,
        listen,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.request_names import shortened_request
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


def listen_to_jobs() -> None:
    when_imported("celery.app.trace", _listen_to_celery)
    when_imported("rq.job", _listen_to_rq)
    when_imported("dramatiq.broker", _listen_to_dramatiq)
    when_imported("huey.api", _listen_to_huey)
    when_imported("taskiq.receiver.receiver", _listen_to_taskiq)
    when_imported("saq.job", lambda module: listen(module.Job, "finish", before=_at_saq))
    when_imported("luigi.worker", _listen_to_luigi)
    when_imported("doit.exceptions", _listen_to_doit)
    when_imported("locust.event", lambda m: listen(m.EventHook, "fire", before=_at_locust))
    when_imported("cleo.application", _listen_to_cleo)
    when_imported("textual.app", lambda m: listen(m.App, "_handle_exception", before=_at_textual))
    when_imported("IPython.core.interactiveshell", _listen_to_ipython)
    for name in ("click.testing", "typer.testing"):
        when_imported(name, _listen_to_click)


def _listen_to_celery(trace: Any) -> None:
    listen(trace.TraceInfo, "handle_failure", before=_at_celery)


def _at_celery(about: Any, task: Any, *_: Any, **__: Any) -> None:
    """What the task says that it throws, celery logs as expected."""
    if attempt(lambda: bool(task.throws and isinstance(about.retval, task.throws)), default=False):
        return
    failed(about.retval, "job", attempt(lambda: exact(str(task.name))), expectable=True)


def _listen_to_rq(job: Any) -> None:
    listen(job.Job, "_handle_failure", before=_at_rq)


def _at_rq(job: Any, *_: Any, **__: Any) -> None:
    name = attempt(lambda: exact(str(job.func_name)))
    failed(error_under_way(), "job", name, expectable=True)


def _listen_to_dramatiq(broker: Any) -> None:
    listen(broker.MessageProxy, "fail", before=_at_dramatiq)


def _at_dramatiq(message: Any) -> None:
    """Said of a message that is not tried again, also of one whose actor may raise this."""
    error = error_under_way()
    actor = attempt(lambda: message._message and exact(str(message.actor_name)))
    if not attempt(_is_announced, message, error, default=False):
        failed(error, "job", actor, expectable=True)


def _is_announced(message: Any, error: Any) -> bool:
    """Whether the actor's option `throws` names it."""
    broker = sys.modules["dramatiq.broker"].get_broker()
    expected = message.options.get("throws") or broker.get_actor(message.actor_name).options.get(
        "throws"
    )
    return bool(expected) and isinstance(error, expected)


def _listen_to_huey(api: Any) -> None:
    listen(api.Huey, "_emit", before=_at_huey)


def _at_huey(huey: Any, signal: Any, task: Any, error: Any = None, *_: Any) -> None:
    if signal == sys.modules["huey.signals"].SIGNAL_ERROR and not task.retries:
        failed(error, "job", attempt(lambda: exact(str(task.name))), expectable=True)


def _listen_to_taskiq(module: Any) -> None:
    run = module.Receiver.run_task
    if hasattr(run, "_debug_relay_listens"):
        return

    async def run_task(*arguments: Any, **named: Any) -> Any:
        result = await run(*arguments, **named)
        attempt(_at_taskiq, result, named.get("message"))
        return result

    run_task._debug_relay_listens = True  # type: ignore[attr-defined]
    module.Receiver.run_task = run_task


def _at_taskiq(result: Any, message: Any) -> None:
    """In the result of one that is tried again its middleware has put another error."""
    if result.is_err and type(result.error).__name__ != "NoResultError":
        name = attempt(lambda: exact(str(message.task_name)))
        failed(result.error, "job", name, expectable=True)


def _at_saq(job: Any, status: Any, **_: Any) -> None:
    if getattr(status, "value", status) == "failed":
        failed(error_under_way(), "job", attempt(lambda: exact(str(job.function))), expectable=True)


def _listen_to_luigi(worker: Any) -> None:
    listen(worker.TaskProcess, "_handle_run_exception", before=_at_luigi)
    # What `complete` raises, and what `requires` does.
    listen(worker.TracebackWrapper, "__init__", before=lambda *_: _luigi_failed(None))
    listen(worker.Worker, "_log_dependency_error", before=lambda _, task, *__: _luigi_failed(task))


def _at_luigi(process: Any, error: Any) -> None:
    _luigi_failed(process.task)


def _luigi_failed(task: Any) -> None:
    """Its id says the parameters, as `Load(day=3)`: those of a family differ by them alone."""
    name = None if task is None else attempt(lambda: shortened_request(task))
    failed(error_under_way(), "job", name, expectable=True)


def _listen_to_doit(exceptions: Any) -> None:
    listen(exceptions.BaseFail, "__init__", before=_at_doit)


def _at_doit(_: Any, words: Any, error: Any = None, *__: Any, **___: Any) -> None:
    """Of a task that has failed it keeps the traceback as text; an action knows its task."""
    if isinstance(error, BaseException):
        name = attempt(lambda: exact(str(calling_frame().f_locals["self"].task.name)))
        failed(error, "job", name, expectable=True)


def _at_locust(hook: Any, *, user_instance: Any = None, exception: Any = None, **_: Any) -> None:
    """A task of a simulated user, or its beginning: Locust counts it, and the user goes on."""
    user = getattr(user_instance, "user", user_instance)  # a set of tasks has its user
    if user is not None and hook is user.environment.events.user_error:
        name = attempt(lambda: exact(str(type(user).__name__)))
        failed(exception, "job", name, expectable=True)


def _listen_to_cleo(module: Any) -> None:
    def at_error(application: Any, error: Any, *_: Any, **__: Any) -> None:
        if not isinstance(error, module.CleoError):  # of the command line
            failed(error, "command", None, expectable=True)

    listen(module.Application, "render_error", before=at_error)


def _at_textual(app: Any, error: Any) -> None:
    """It ends the application, which prints it and returns; of a worker it is the cause."""
    if type(error).__name__ == "WorkerFailed":
        error = error.error
    failed(error, "command", attempt(lambda: exact(type(app).__name__)), expectable=True)


def _listen_to_ipython(module: Any) -> None:
    listen(module.InteractiveShell, "showtraceback", before=_at_ipython)


def _at_ipython(shell: Any, about: Any = None, *_: Any, **__: Any) -> None:
    """What ends a script or a cell; IPython shows it, and goes on or exits with 1."""
    error, tb = (about[1], about[2]) if about else (error_under_way(), None)
    if type(error).__name__ == "UsageError" or attempt(_may_fail, shell):  # of a magic command
        return
    cell = attempt(_cell_of, shell, error.__traceback__ if tb is None else tb)
    failed(error, "command", f"IPython {cell}" if cell else "IPython", tb=tb, expectable=True)


def _cell_of(shell: Any, tb: Any) -> str | None:
    """The cell that was run, as IPython itself calls it: `In[3]`."""
    numbers = shell.compile._filename_map
    while tb is not None:
        number = numbers.get(tb.tb_frame.f_code.co_filename)
        if type(number) is int:
            return f"In[{number}]"
        tb = tb.tb_next
    return None


def _may_fail(shell: Any) -> bool:
    """Whether who sent the cell to this kernel goes on anyhow, by the tag `raises-exception` say."""
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return request.get("content", {}).get("stop_on_error") is False


def _listen_to_click(testing: Any) -> None:
    listen(testing.Result, "__init__", before=_at_click)


def _at_click(result: Any, *arguments: Any, **named: Any) -> None:
    """The result of a command in a test; outside of one, whoever called looks at it."""
    error = named.get("exception")
    if is_in_test() and not isinstance(error, (SystemExit, type(None))):
        failed(error, "command", None, expectable=True)
