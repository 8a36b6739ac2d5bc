"""The `relay` command, whole. Each command is imported when it is asked for."""

from __future__ import annotations

import difflib
import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from relay.staying_imports import imports_that_stay

if TYPE_CHECKING:
    from relay.config import Settings

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


COMMANDS: dict[str, str] = {
    "perl-adapter": "relay.perl.command:perl_adapter",
    "adapters": "relay.faces.cli.adapters:adapters",
    "agent": "relay.faces.cli.agent:agent",
    "attach": "relay.faces.cli.sessions.starting:attach",
    "break": "relay.faces.cli.sessions.inspecting:break_",
    "completion": "relay.faces.cli.completion:completion",
    "continue": "relay.faces.cli.sessions.running:continue_",
    "dap": "relay.faces.dap.command:dap",
    "diff": "relay.faces.cli.diff:diff",
    "doctor": "relay.faces.cli.doctor:doctor",
    "end": "relay.faces.cli.sessions.ending:end",
    "eval": "relay.faces.cli.sessions.inspecting:evaluate",
    "hang": "relay.faces.cli.sessions.hang:hang",
    "input": "relay.faces.cli.sessions.streams:input_",
    "locals": "relay.faces.cli.sessions.inspecting:locals_",
    "output": "relay.faces.cli.sessions.streams:output",
    "pause": "relay.faces.cli.sessions.running:pause",
    "restart": "relay.faces.cli.sessions.starting:restart",
    "sessions": "relay.faces.cli.sessions.starting:sessions",
    "stack": "relay.faces.cli.sessions.inspecting:stack",
    "start": "relay.faces.cli.sessions.starting:start",
    "step": "relay.faces.cli.sessions.running:step",
    "stop": "relay.faces.cli.sessions.ending:stop",
    "trace": "relay.faces.cli.sessions.running:trace",
    "ui": "relay.faces.ui.command:ui",
    "until": "relay.faces.cli.sessions.running:until",
    "where": "relay.faces.cli.sessions.running:where",
    "watch": "relay.faces.cli.sessions.watch:watch",
    "why": "relay.faces.cli.sessions.why:why",
    "mcp": "relay.faces.mcp.command:mcp",
    "run": "relay.faces.cli.run.command:run",
    "ez": "relay.faces.stdio.command:ez",
    "stdio": "relay.faces.stdio.command:stdio",
}
"""Commands that live in rooms of their own: name to "module:attribute", imported when used."""

FAMILIAR = {
    word: command
    for command, words in {
        "break --delete ID": "cl clear delete",
        "break PLACE": "b breakpoint breakpoints tbreak",
        "continue": "c cont resume",
        "end": "exit kill q quit terminate",
        "eval 'NAME = VALUE'": "assign set",
        "eval EXPRESSION": "evaluate exec inspect p pp print x",
        "hang": "deadlock tasks thread threads",
        "locals": "args info variables vars",
        "locals --frame N": "down frame select up",
        "output": "log logs stdout",
        "run --calls -- PROGRAM": "calls",
        "run -- PROGRAM": "r test",
        "sessions": "ls ps",
        "stack": "backtrace bt callstack traceback w",
        "start PROGRAM": "debug launch",
        "step into": "s si stepi",
        "step out": "finish out ret return",
        "step over": "n next over",
        "stop": "shutdown",
        "until FILE:LINE": "advance goto run-to u unt",
        "where": "l list source state status",
        "why EXPRESSION": "blame history writes",
    }.items()
    for word in words.split()
}
"""What other debuggers call a command, and what it is called here."""

_SLIP = 0.7
"""How alike a slip and what is meant are. Short words that share two letters are less: `jump` is no
slip for `up`, nor `export` for `next`."""


class LazyGroup(click.Group):
    """A group that imports a command of COMMANDS when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, those that are not imported yet too."""
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now if need be."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        with imports_that_stay():
            command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; of a command of another debugger, a slip or a program it says what is meant."""
        word = args[0]
        if self.get_command(ctx, word) is None and (here := self._meant_by(ctx, word)):
            ctx.fail(f"No such command {word!r}. Try relay {here}")
        return super().resolve_command(ctx, args)

    def _meant_by(self, ctx: click.Context, word: str) -> str | None:
        if word.endswith(".py"):
            return f"run -- {word}"
        if word in FAMILIAR:
            return FAMILIAR[word]
        near = difflib.get_close_matches(word, self.list_commands(ctx), n=1, cutoff=_SLIP)
        near = near or difflib.get_close_matches(word, FAMILIAR, n=1, cutoff=_SLIP)
        return FAMILIAR.get(near[0], near[0]) if near else None


@click.group(cls=LazyGroup, context_settings=CONTEXT)
@click.version_option(package_name="debug-relay", message="relay %(version)s")
def cli() -> None:
    """The debugger that coding agents reach for: ask a program, and get one exact answer.

    \b
    Start here, with a question; each is one command, without a server:
      Why does it fail?        relay run --on-exception -- -m pytest tests/test_cart.py
      Which call went wrong?   relay run --trace Cart.total --until-result 'result < 0' -- app.py
      What was called?         relay run --calls -- app.py
      Who set this value?      relay run --break app.py:42 --why cart.total --until 1 -- app.py
      When does it change?     relay run --watch app.py:42:cart.total -- app.py
      Where do two runs part?  relay diff --rev HEAD~1 -- -m pytest -q tests/test_cart.py
      What is it there?        relay run --break app.py:42 --eval 'len(items)' -- app.py
      Where does it hang?      relay run --timeout 20 -- app.py     or relay hang --pid PID

    \b
    Look around at a stop, command by command:
      relay start --break app.py:42 app.py    then relay where, eval, locals, step, trace, why

    \b
    Sessions for others, and a look at all of it:
      relay serve    over HTTP, on http://127.0.0.1:5679/api/v1
      relay mcp      for agents; relay agent install makes it known to yours
      relay demo     a buggy program debugged, each step shown as a curl command
      relay doctor   check that everything is there
    """


@cli.command(short_help="Hold debug sessions and answer over HTTP.")
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="TCP port; 0 takes a free one.  [default: 5679]")
@click.option(
    "--uds",
    metavar="PATH",
    type=click.Path(dir_okay=False),
    help="Unix socket to listen on instead of a port; only you can connect to it.",
)
@click.option(
    "--state-dir",
    type=click.Path(file_okay=False),
    help="Directory of config.json.  [default: ~/.opencode-debugger]",
)
@click.option(
    "--project-root",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Project root of sessions that name none.  [default: the current directory]",
)
@click.option(
    "--python-path", help="Interpreter of sessions that name none.  [default: the relay's own]"
)
@click.option(
    "--relay-id",
    metavar="ID",
    help="What this relay is called among several: its sessions are sess_ID-…, so that a proxy "
    "knows whose they are. 1 to 16 of a-z and 0-9.",
)
@click.option("--max-sessions", type=int, help="Sessions that may live at once.  [default: 10]")
@click.option(
    "--default-timeout-minutes",
    type=int,
    help="Idle time after which a session ends.  [default: 60]",
)
@click.option(
    "--request-timeout-seconds",
    type=float,
    help="Time limit of one question to a debuggee.  [default: 5]",
)
@click.option(
    "--launch-timeout-seconds",
    type=float,
    help="Time limit from the start of a program to its first line.  [default: 30]",
)
@click.option(
    "--output-limit-bytes", type=int, help="Output kept per session.  [default: 10485760]"
)
@click.option("--event-limit", type=int, help="Events kept per session.  [default: 10000]")
@click.option(
    "--standby",
    type=int,
    metavar="N",
    help="Debuggees that wait for the next launch of their kind.  [default: 3]",
)
@click.option(
    "--no-standby", "standby", flag_value=0, type=int, help="None: every launch starts its own."
)
@click.option(
    "--standby-minutes",
    type=float,
    help="How long a debuggee waits for a launch before it is ended.  [default: 10]",
)
@click.option(
    "--exit-when-idle",
    type=float,
    metavar="MINUTES",
    help="End after so long without a session and without a request.  [default: stay]",
)
@click.option(
    "--token",
    help="Bearer token that every request must carry. Others on this machine can read "
    "a command line: RELAY_TOKEN keeps it private.",
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    help="Host name to accept besides the loopback ones; may be repeated. "
    "RELAY_ALLOWED_HOSTS takes them separated by commas.",
)
@click.option(
    "--allowed-root",
    "allowed_roots",
    multiple=True,
    type=click.Path(file_okay=False, resolve_path=True),
    help="Directory below which scripts, sources, working directories and interpreters have to lie "
    "that clients name; may be repeated.  [default: anywhere]",
)
@click.option(
    "--same-user-only/--no-same-user-only",
    default=None,
    help="Whether processes of other users of this machine are refused at a TCP port, root's excepted.  "
    "[default: they are not]",
)
@click.option(
    "--requests-per-second",
    type=float,
    help="Requests that one client may send in a second over HTTP, and as many at once.  "
    "[default: as many as it likes]",
)
@click.option(
    "--redact-pattern",
    "redact_patterns",
    multiple=True,
    help="Name whose values are masked, in place of the default ones; may be repeated. "
    "RELAY_REDACT_PATTERNS takes them separated by commas.",
)
@click.option(
    "--redact-credentials/--no-redact-credentials",
    default=None,
    help="Whether keys, tokens and passwords are masked by their shapes as well, in values and "
    "in output.  [default: they are]",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What is logged to standard error.  [default: info]",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="Lines of the log as text, or each a JSON object.  [default: text]",
)
def serve(**options: Any) -> None:
    """Serve debug sessions over HTTP until SIGINT, SIGTERM or SIGHUP.

    Prints where it listens. Every option can also be set in the environment
    (--max-sessions is RELAY_MAX_SESSIONS) or as a key of config.json in the state
    directory ("max_sessions"). The command line wins over the environment, and the
    environment over the file.

    \b
    Examples:
      relay serve
      relay serve --port 0 --log-level debug
      RELAY_MAX_SESSIONS=20 relay serve

    \b
    A first session:
      curl http://127.0.0.1:5679/api/v1/health
      curl -X POST http://127.0.0.1:5679/api/v1/sessions
      http://127.0.0.1:5679/api/v1/docs shows every route
    """
    options["allowed_hosts"] = options["allowed_hosts"] or None
    options["allowed_roots"] = options["allowed_roots"] or None
    options["redact_patterns"] = options["redact_patterns"] or None
    with imports_that_stay():
        settings = _settings(options)
        from relay.serving import run_server

    sys.exit(run_server(settings, cli))


def _settings(options: dict[str, Any]) -> Settings:
    from relay.config import ConfigurationError, load_settings

    try:
        return load_settings(**options)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None


@cli.command(short_help="Find a bug in a bundled program, call by call.")
@click.option(
    "--keep-program", is_flag=True, help="Leave the buggy program on disk, and say where."
)
def demo(keep_program: bool) -> None:
    """Debug a small buggy program, and show each HTTP call with its answer.

    Starts a server on a free port, finds the bug in a few calls, and leaves
    nothing behind. Needs nothing but this installation; ignores your settings.
    Each call is shown as the curl command that makes it.
    """
    from relay.demo import run_demo

    sys.exit(run_demo(keep_program=keep_program))
