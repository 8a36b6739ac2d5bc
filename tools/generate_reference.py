"""Writes the generated parts of `docs/reference/`: what the code knows, in Markdown; and its help.

    python -m tools.generate_reference            # write
    python -m tools.generate_reference --check    # exit 1 if a page is stale

`relay/help/` has what each command prints with --help, which is quicker read than made, and the
scripts of relay completion.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end: NAME -->`; the
rest of a page is written by hand. Knows the table of routes, the catalog of errors, the
settings, the command line and the lifecycle. Says nothing that they do not.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

import click
from pydantic_core import PydanticUndefined

import relay
from relay.actions import in_words
from relay.command_line import CONTEXT, cli
from relay.config import Settings, variable_of
from relay.dap import lifecycle
from relay.errors import RelayError, catalog
from relay.faces.common.actions import ROUTE_WORDS
from relay.faces.http.openapi import Document, Schema, openapi
from relay.faces.http.routes import ROUTES
from relay.models.output import EventType
from relay.models.sessions import STOP_REASONS
from relay.quick import shell as quick_shell
from tools.completion_scripts import scripts
from tools.markdown import Cells, anchor, table, type_of, values
from tools.reference_lines import line_commands, line_events, tool_calls
from tools.reference_mcp import mcp_tools

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
PART = re.compile(r"<!-- generated: (?P<name>[\w-]+) -->\n.*?<!-- end: (?P=name) -->", re.DOTALL)
LONGEST_DEFAULT = 40

HELP = Path(relay.__file__).parent / "help"
HELP_WIDTH = quick_shell.HELP_WIDTH - 2
"""As click takes it of a terminal."""

REFERENCE_WIDTH = 100

# Routes -------------------------------------------------------------------------------


def routes() -> str:
    """Every route with its parameters, fields and errors, then the models that they use."""
    document = openapi(ROUTES)
    return "\n".join(
        [*_contents(document), *_everywhere(), *_operations(document), *_models(document)]
    )


def _common_errors() -> set[str]:
    """The codes that any route can answer."""
    return set.intersection(*({error.code for error in route.all_errors} for route in ROUTES))


def _everywhere() -> Iterator[str]:
    codes = ", ".join(_linked(sorted(_common_errors())))
    yield f"Any route can answer {codes}. The entries below name what comes on top.\n"


def _each(document: Document) -> Iterator[tuple[str, Document]]:
    """(heading, operation) in the order of the table."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def _contents(document: Document) -> Iterator[str]:
    rows = [
        [f"[`{heading}`](#{anchor(heading)})", operation["summary"]]
        for heading, operation in _each(document)
    ]
    yield table(["route", "what it does"], rows)


def _operations(document: Document) -> Iterator[str]:
    tag = ""
    for heading, operation in _each(document):
        if operation["tags"][0] != tag:
            tag = operation["tags"][0]
            yield f"## {tag[0].upper()}{tag[1:]}\n"
        yield f"### {heading}\n"
        yield from _operation(operation)


def _operation(operation: Document) -> Iterator[str]:
    yield f"{operation['summary']}.\n"
    if "description" in operation:
        yield f"{operation['description']}\n"
    parameters = [p for p in operation["parameters"] if "$ref" not in p]
    if parameters:
        yield table(
            ["parameter", "in", "type", "default", "meaning"],
            [_parameter_row(parameter) for parameter in parameters],
        )
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        yield f"Body: {type_of(schema)}\n"
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield f"Answer: `{status}`, {_answer(response)}\n"
    if errors := _errors(operation):
        yield f"Errors: {', '.join(errors)}\n"


def _parameter_row(parameter: Document) -> Cells:
    schema = parameter["schema"]
    default = "required" if parameter["required"] else _default(schema, required=False)
    return [
        f"`{parameter['name']}`",
        parameter["in"],
        type_of(schema),
        default,
        parameter.get("description", ""),
    ]


def _answer(response: Document) -> str:
    (media_type, content), *_ = response["content"].items()
    data = content["schema"].get("properties", {}).get("data")
    return f"`data`: {type_of(data)}" if data else f"`{media_type}`"


def _errors(operation: Document) -> list[str]:
    found: list[str] = []
    for status, response in operation["responses"].items():
        if not status.startswith("2"):
            found += response["description"].split(", ")
    common = _common_errors()
    return _linked([code for code in found if code not in common])


def _linked(codes: Iterable[str]) -> list[str]:
    return [f"[`{code}`](errors.md#{anchor(code)})" for code in codes]


def _models(document: Document) -> Iterator[str]:
    yield "## Models\n"
    for name, schema in document["components"]["schemas"].items():
        yield f"### {name}\n"
        if "description" in schema:
            yield f"{' '.join(schema['description'].split())}\n"
        if "enum" in schema:
            yield f"One of {values(schema['enum'])}.\n"
        else:
            yield table(["field", "type", "default", "meaning"], _field_rows(schema))


def _field_rows(schema: Schema) -> Iterator[Cells]:
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        default = _default(field, required=name in required)
        yield [f"`{name}`", type_of(field), default, field.get("description", "")]


def _default(field: Schema, *, required: bool) -> str:
    if required:
        return "required"
    default = json.dumps(field.get("default"))
    return f"`{default}`" if len(default) <= LONGEST_DEFAULT else ""


# Errors -------------------------------------------------------------------------------


def errors() -> str:
    """Every code: what it means, what to do, which routes answer it."""
    known = sorted(catalog().items(), key=lambda item: (item[1].status, item[0]))
    overview = [
        [f"[`{code}`](#{anchor(code)})", str(cls.status), _first_line(cls)] for code, cls in known
    ]
    sections = [_error(code, cls) for code, cls in known]
    return "\n".join([table(["code", "status", "meaning"], overview), *sections])


def _error(code: str, cls: type[RelayError]) -> str:
    return (
        f"### {code}\n\nStatus {cls.status}. {_first_line(cls)}\n\n"
        f"Way out: {in_words(cls.way_out, {}, ROUTE_WORDS)}.\n\n{_raised_by(cls)}\n"
    )


def _first_line(thing: object) -> str:
    text = inspect.getdoc(thing)
    assert text, f"{thing} has no docstring"
    return text.partition("\n")[0]


def _raised_by(cls: type[RelayError]) -> str:
    own = [f"{route.method} {route.path}" for route in ROUTES if cls in route.errors]
    general = [route for route in ROUTES if cls in route.all_errors and cls not in route.errors]
    if len(general) + len(own) == len(ROUTES):
        return "Any route can answer it."
    if general:
        return f"{len(general) + len(own)} routes can answer it; each says so in its entry."
    if not own:
        return "It belongs to no single route."
    return "Answered by " + ", ".join(f"[`{h}`](routes.md#{anchor(h)})" for h in own) + "."


# Settings and the command line -----------------------------------------------------------


NO_OPTION = frozenset({"adapters"})
"""Settings that are too large for a command line."""


def settings() -> str:
    """Every setting with its names, default and bounds."""
    return table(
        ["key in `config.json`", "environment", "option", "type", "default", "meaning"],
        [_setting_row(name, field) for name, field in _setting_schemas().items()],
    )


def _setting_schemas() -> Mapping[str, Schema]:
    properties: Mapping[str, Schema] = Settings.model_json_schema()["properties"]
    return properties


def _setting_row(name: str, schema: Schema) -> Cells:
    key = "" if name == "state_dir" else f"`{name}`"
    option = "" if name in NO_OPTION else f"`{option_of(name)}`"
    return [
        key,
        f"`{variable_of(name)}`",
        option,
        type_of(schema),
        _setting_default(name),
        schema.get("description", ""),
    ]


def _setting_default(name: str) -> str:
    """Two defaults are of the machine: they are described, not shown."""
    described = {
        "project_root": "the current directory",
        "python_path": "the relay's own",
        "adapters": "`{}`",
    }
    default = Settings.model_fields[name].get_default()
    if name in described or default is PydanticUndefined:
        return described[name]
    return f"`{json.dumps(default, default=str)}`"


def option_of(setting: str) -> str:
    """The command line's word for a setting."""
    repeated = {
        "allowed_hosts": "--allowed-host",
        "allowed_roots": "--allowed-root",
        "redact_patterns": "--redact-pattern",
    }
    return repeated.get(setting, "--" + setting.replace("_", "-"))


def command_line() -> str:
    """Every command with its usage, its help and its options."""
    known = sorted(commands().items())
    overview = [
        [f"[`relay {name}`](#{anchor(f'relay {name}')})", one.get_short_help_str(200)]
        for name, one in known
    ]
    sections = [_command(name, command) for name, command in known]
    return "\n".join([table(["command", "what it does"], overview), _options(cli), *sections])


def commands() -> dict[str, click.Command]:
    """Every command of `relay` by its name, also those that are imported only when used.

    Commands of a command are there by both names: `agent install`.
    """
    context = click.Context(cli, info_name="relay")
    known: dict[str, click.Command] = {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None, name
        known[name] = command
        if isinstance(command, click.Group):
            known |= {f"{name} {inner}": one for inner, one in command.commands.items()}
    return known


def _command(name: str, command: click.Command) -> str:
    context = _context(command, f"relay {name}", REFERENCE_WIDTH)
    usage = context.get_usage().removeprefix("Usage: ")
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    return f"## relay {name}\n\n```text\n{usage}\n\n{text}\n```\n\n{_options(command)}"


def _context(
    command: click.Command, name: str, width: int, parent: click.Context | None = None
) -> click.Context:
    # As when it runs: a command keeps the help option that it is first asked for.
    return click.Context(command, parent, info_name=name, terminal_width=width, **CONTEXT)


def _options(command: click.Command) -> str:
    context = _context(command, "relay", REFERENCE_WIDTH)
    rows = [
        parameter.get_help_record(context)
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
    ]
    found = [(f"`{row[0]}`", row[1]) for row in rows if row is not None]
    return table(["option", "meaning"], found)


# Statuses and events ------------------------------------------------------------------


def statuses() -> str:
    """The table of what a session may go through."""
    return lifecycle.as_markdown()


def happenings() -> str:
    """What each row of the table means, from the comments under the members."""
    source = inspect.getsource(lifecycle.Happening)
    meanings = re.findall(r'= "(\w+)"\n\s+"""(.*?)"""', source)
    assert len(meanings) == len(lifecycle.Happening)
    return table(["happening", "meaning"], [[f"`{name}`", text] for name, text in meanings])


def stop_reasons() -> str:
    """The words that `stop_reason` can have."""
    return ", ".join(f"`{reason}`" for reason in STOP_REASONS) + "\n"


def event_types() -> str:
    """The words that `types` takes."""
    return ", ".join(f"[`{name}`](#{anchor(name)})" for name in get_args(EventType)) + "\n"


PARTS: Mapping[str, Callable[[], str]] = {
    "routes": routes,
    "errors": errors,
    "settings": settings,
    "command-line": command_line,
    "statuses": statuses,
    "happenings": happenings,
    "stop-reasons": stop_reasons,
    "event-types": event_types,
    "mcp-tools": mcp_tools,
    "line-commands": line_commands,
    "line-events": line_events,
    "tool-calls": tool_calls,
}


def refresh(text: str) -> str:
    """A page with its generated parts made anew."""

    def part(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- generated: {name} -->\n\n{PARTS[name]().strip()}\n\n<!-- end: {name} -->"

    return PART.sub(part, text)


def helps() -> dict[Path, str]:
    """What `relay --help` and each `relay COMMAND --help` print, by the file that has it."""
    whole = _context(cli, "relay", HELP_WIDTH)
    texts = {HELP / "relay.txt": cli.get_help(whole)}
    for name, command in commands().items():
        if " " in name:
            continue  # asked for seldom, and made when it is
        context = _context(command, name, HELP_WIDTH, whole)
        texts[HELP / f"relay-{name}.txt"] = command.get_help(context)
    made = {path: f"{text}\n" for path, text in texts.items()}
    return made | {HELP / f"completion.{shell}": text for shell, text in scripts(cli).items()}


def stale() -> dict[Path, str]:
    """The files that are not as they should be, with what they should be."""
    files = sorted([*PAGES.glob("*.md"), *HELP.glob("*.txt"), *HELP.glob("completion.*")])
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    fresh = {path: refresh(text) for path, text in texts.items() if path.suffix == ".md"} | helps()
    left = dict.fromkeys(texts.keys() - fresh.keys(), "")
    return {path: text for path, text in (fresh | left).items() if texts.get(path) != text}


def main(arguments: Sequence[str]) -> int:
    """Write, or with --check only tell."""
    found = stale()
    if "--check" in arguments:
        for path in found:
            print(f"{path.name} is stale: run python -m tools.generate_reference", file=sys.stderr)
        return 1 if found else 0
    for path, text in found.items():
        if text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
