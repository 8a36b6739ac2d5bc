"""What a debuggee lacks that the relay's bootstrap did not start is added here, all at once.

Each patch is tried by itself: one for which a new pydevd has no place must not keep out the
others, and is reported. Where one that answers depend on has none, nothing is done.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.kept_locals import patch_kept_locals
    from relay.debuggers.debugpy.debuggee.probe.frames.returns import patch_returns
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_answers import answer_stacks_directly
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import show_templates
    from relay.debuggers.debugpy.debuggee.probe.hooks.absent_sources import place_absent_sources
    from relay.debuggers.debugpy.debuggee.probe.hooks.command_thread import (
        answer_commands_promptly,
        make_queues_once,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.equal_codes import separate_equal_codes
    from relay.debuggers.debugpy.debuggee.probe.hooks.hidden_files import hide_by_place
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import leave_idle_events_out
    from relay.debuggers.debugpy.debuggee.probe.hooks.known_codes import know_codes_at_once
    from relay.debuggers.debugpy.debuggee.probe.hooks.late_loads import (
        give_back_modules,
        leave_frameworks_out,
        load_unwinder,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import (
        apply_patch,
        report_debugger,
        unfit,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.lost_directory import (
        place_files_of_lost_directory,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.own_modules import keep_own_modules
    from relay.debuggers.debugpy.debuggee.probe.hooks.running_frames import (
        hide_own_threads,
        keep_no_frames,
        keep_no_threads,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import trace_as_needed
    from relay.debuggers.debugpy.debuggee.probe.process.children import announce_children
    from relay.debuggers.debugpy.debuggee.probe.process.descriptors import keep_connection
    from relay.debuggers.debugpy.debuggee.probe.process.ending import send_all_at_end
    from relay.debuggers.debugpy.debuggee.probe.process.forks import free_forks
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, attempt
    from relay.debuggers.debugpy.debuggee.probe.process.liveness import keep_exit_functions
    from relay.debuggers.debugpy.debuggee.probe.process.pickled_code import (
        know_files_of_pickled_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.unwarned import keep_filters
    from relay.debuggers.debugpy.debuggee.probe.stops.all_threads import hold_and_let_go_at_once
    from relay.debuggers.debugpy.debuggee.probe.stops.arrivals import ask_on_arrival
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import patch_breakpoints
    from relay.debuggers.debugpy.debuggee.probe.stops.entry_stop import patch_entry
    from relay.debuggers.debugpy.debuggee.probe.stops.jumps import jump_without_warning
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import keep_own_stops
    from relay.debuggers.debugpy.debuggee.probe.stops.resumes import patch_resumes
    from relay.debuggers.debugpy.debuggee.probe.stops.step_targets import list_every_call
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import patch_steps
    from relay.debuggers.debugpy.debuggee.probe.stops.stop_places import announce_stops
    from relay.debuggers.debugpy.debuggee.probe.waits.signalled_stacks import (
        write_stacks_at_signal,
    )


def install() -> dict[str, Any]:
    """Add what a debuggee started or attached by others lacks, and report which debugger it has.

    Raises TroubleError, before anything is changed, for a debugger that the probe does not know.
    """
    reason = unfit()
    if reason is not None:
        raise TroubleError("unfit", reason)
    attempt(_buffer_lines)
    hook_suspensions("output", before=_flush_streams)
    apply_patch("forks", free_forks)
    apply_patch("last words", send_all_at_end)
    apply_patch("exit functions", keep_exit_functions)
    apply_patch("breakpoints", patch_breakpoints)
    patch_program()
    apply_patch("tracing", trace_as_needed)
    apply_patch("entry", patch_entry)
    apply_patch("own stops", keep_own_stops)
    report_debugger()
    return {}


def patch_program() -> None:
    """What makes stops, steps and children those of the relay; as the program begins."""
    load_unwinder()
    attempt(give_back_modules)
    attempt(keep_own_modules)
    attempt(hide_own_threads)
    attempt(write_stacks_at_signal)
    attempt(know_files_of_pickled_code)
    apply_patch("warnings", keep_filters)
    apply_patch("descriptors", keep_connection)
    apply_patch("commands", answer_commands_promptly)
    apply_patch("questions", make_queues_once)
    apply_patch("looks", keep_no_frames)
    apply_patch("ended threads", keep_no_threads)
    apply_patch("frameworks", leave_frameworks_out)
    apply_patch("hidden files", hide_by_place)
    apply_patch("lost directory", place_files_of_lost_directory)
    apply_patch("absent sources", place_absent_sources)
    apply_patch("equal codes", separate_equal_codes)
    apply_patch("known codes", know_codes_at_once)
    apply_patch("templates", show_templates)
    apply_patch("stacks", answer_stacks_directly)
    apply_patch("children", announce_children)
    apply_patch("steps", patch_steps)
    apply_patch("jumps", jump_without_warning)
    apply_patch("step targets", list_every_call)
    apply_patch("idle events", leave_idle_events_out)
    apply_patch("returns", patch_returns)
    apply_patch("kept locals", patch_kept_locals)
    apply_patch("resumes", patch_resumes)
    apply_patch("all threads", hold_and_let_go_at_once)
    apply_patch("stops", announce_stops)
    apply_patch("arrivals", ask_on_arrival)


def _flush_streams(*_: Any) -> None:
    """What the program has printed is seen before its stop is."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        if stream is not None:
            attempt(lambda s=stream: s.flush())


def _buffer_lines() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
