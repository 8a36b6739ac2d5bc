"""Every name of pydevd that the probe uses, by what it is for.

pydevd promises none of them. What is lost without them is said by `limitations.py`. Refuses to know how
the names are used; a test compares.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_PYDB = "pydevd:PyDB"
_API = "_pydevd_bundle.pydevd_api:PyDevdAPI"
_CONSTANTS = "_pydevd_bundle.pydevd_constants"
_SCHEMA = "_pydevd_bundle._debug_adapter.pydevd_base_schema:BaseSchema"
_FRAMES = "_pydevd_bundle.pydevd_suspended_frames:SuspendedFramesManager"
_INFO = "_pydevd_bundle.pydevd_additional_thread_info:PyDBAdditionalThreadInfo"
_WRITER = "_pydevd_bundle.pydevd_comm:WriterThread"
_FACTORY = "_pydevd_bundle.pydevd_net_command_factory_json:NetCommandFactoryJson"
_MONITORING = "_pydevd_sys_monitoring.pydevd_sys_monitoring"


class Need:
    """What some names are for, whether answers depend on it, and what is lost without them."""

    def __init__(self, purpose: str, required: bool, without: str, names: dict[str, str]) -> None:
        self.purpose, self.required, self.without, self.names = purpose, required, without, names

    def missing(self) -> list[str]:
        """Those that this pydevd does not have, each with its place."""
        return [
            f"{place}.{name}"
            for place, names in self.names.items()
            for name in _missing_in(place, names.split())
        ]


NEEDS = (
    Need(
        "values",
        True,
        "stops cannot be looked at",
        {
            _CONSTANTS: "get_global_debugger get_thread_id PYDEVD_USE_SYS_MONITORING",
            _PYDB: "find_frame suspended_frames_manager in_project_scope _main_lock"
            " post_method_as_internal_command",
            _FRAMES: "get_thread_id_for_variable_reference get_frames_list",
            "_pydevd_bundle.pydevd_frame_utils:FramesList": "exc_desc trace_obj frame_id_to_lineno",
            _SCHEMA: "_dap_id_to_obj_id _obj_id_to_dap_id _translate_id_to_dap",
            "_pydev_bundle._pydev_saved_modules": "threading",
            "pydevd_file_utils": "map_file_to_client get_abs_path_real_path_and_base_from_file"
            " get_abs_path_real_path_and_base_from_frame",
        },
    ),
    Need(
        "stops",
        True,
        "nothing can be said of a stop",
        {
            "pydevd": "NetCommand get_current_thread_id",
            "_pydevd_bundle.pydevd_comm_constants": "CMD_RETURN",
            _PYDB: "do_wait_suspend writer",
            _WRITER: "add_command",
        },
    ),
    Need(
        "breakpoints",
        True,
        "conditions and hits of breakpoints are not the relay's",
        {
            _PYDB: "handle_breakpoint_condition cmd_factory mtime",
            _FACTORY: "make_console_message",
            "_pydevd_bundle.pydevd_breakpoints:LineBreakpoint": "has_condition",
        },
    ),
    Need(
        "log points",
        False,
        "what strikes while a log point's text is made becomes the text",
        {_PYDB: "handle_breakpoint_expression"},
    ),
    Need(
        "struck",
        False,
        "what a handler of a signal raises in traced lines is lost",
        {"_pydevd_bundle.pydevd_trace_dispatch_regular": "pydev_log_exception"},
    ),
    Need(
        "resumes",
        True,
        "a resume may be reported late, or never",
        {
            _PYDB: "_threads_suspended_single_notification",
            "pydevd:ThreadsSuspendedSingleNotification": "add_on_resumed_callback"
            " on_thread_suspend on_thread_resume send_resume_notification _lock _callbacks"
            " _last_suspend_notification_time _last_resume_notification_time"
            " _suspended_thread_id_to_thread",
        },
    ),
    Need(
        "left questions",
        False,
        "what is asked as the program is resumed is answered after its time limit only",
        {
            _PYDB: "get_internal_queue_and_event",
            "_pydevd_bundle.pydevd_comm": "internal_evaluate_expression_json",
        },
    ),
    Need(
        "steps",
        True,
        "steps may end in the wrong place",
        {
            _MONITORING: "update_monitor_events enable_code_tracing restart_events start_monitoring",
            "_pydevd_bundle.pydevd_additional_thread_info": "any_thread_stepping"
            " set_additional_thread_info",
            _INFO: "pydev_step_cmd pydev_step_stop update_stepping_info",
            _PYDB: "set_trace_for_frame_and_parents",
        },
    ),
    Need(
        "idle events",
        False,
        "a function with a breakpoint in it runs slowly",
        {
            _CONSTANTS: "PYDEVD_USE_SYS_MONITORING",
            _MONITORING: "update_monitor_events restart_events",
            "_pydevd_bundle.pydevd_additional_thread_info": "any_thread_stepping",
            _INFO: "pydev_step_cmd pydev_step_stop pydev_state",
            _PYDB: "breakpoints get_file_type has_plugin_line_breaks function_breakpoint_name_to_breakpoint"
            " pydb_disposed",
            "pydevd_file_utils": "get_abs_path_real_path_and_base_from_file",
        },
    ),
    Need(
        "entry",
        False,
        "a stop at the entry of a library's module, as a test runner is, takes seconds",
        {
            _API: "stop_on_entry",
            _PYDB: "apply_files_filter set_suspend enable_tracing ready_to_run",
            _INFO: "pydev_step_cmd pydev_original_step_cmd update_stepping_info",
            _MONITORING: "enable_code_tracing",
        },
    ),
    Need(
        "prompt resumes",
        False,
        "steps take up to 0.2 s longer, and a resume into C code may be answered late",
        {
            _PYDB: "_thread_events created_pydb_daemon_threads",
            _API: "request_resume_thread request_step request_smart_step_into request_set_next",
            _INFO: "pydev_state",
        },
    ),
    Need(
        "commands",
        False,
        "what is asked of a program that runs may be answered 0.2 s late",
        {_PYDB: "_py_db_command_thread_event"},
    ),
    Need(
        "questions",
        False,
        "the first question at a thread's first stop may get lost",
        {_PYDB: "_cmd_queue _thread_events"},
    ),
    Need(
        "looks",
        False,
        "what a frame has that was looked at may end late: with the next garbage collection",
        {
            "_pydevd_bundle.pydevd_additional_thread_info_regular:PyDBAdditionalThreadInfo": "get_topmost_frame"
        },
    ),
    Need(
        "ended threads",
        False,
        "threads that have ended stay in memory, with all that they have, and may be taken for the next ones",
        {
            _CONSTANTS: "_get_or_compute_thread_id_with_lock _thread_id_lock _thread_id_to_thread_found",
            "_pydev_bundle.pydev_monkey": "_NewThreadStartupWithTrace",
        },
    ),
    Need(
        "own stops",
        False,
        "where threads meet breakpoints together, a stop may be over before anybody has seen it",
        {
            "_pydevd_bundle.pydevd_thread_lifecycle": "internal_run_thread",
            "_pydevd_bundle.pydevd_api": "internal_step_in_thread internal_smart_step_into",
            _API: "request_resume_thread",
            _PYDB: "set_suspend multi_threads_single_notification",
            "pydevd:ThreadsSuspendedSingleNotification": "_pause_requested _next_request_time"
            " _suspend_time_request send_suspend_notification _py_db",
        },
    ),
    Need(
        "all threads",
        False,
        "a step takes long in a program with a hundred threads",
        {
            "_pydevd_bundle.pydevd_thread_lifecycle": "PYDEVD_USE_SYS_MONITORING mark_thread_suspended"
            " resume_threads set_additional_thread_info suspend_all_threads",
            "_pydevd_bundle.pydevd_utils": "get_non_pydevd_threads",
            _INFO: "is_in_wait_loop pydev_original_step_cmd pydev_state pydev_step_cmd pydev_step_stop"
            " suspend_type update_stepping_info",
            _PYDB: "get_internal_queue_and_event set_trace_for_frame_and_parents",
        },
    ),
    Need(
        "arrivals",
        False,
        "a thread that comes to a breakpoint, or raises, while another stops passes it uncounted",
        {
            "pydevd_file_utils": "get_abs_path_real_path_and_base_from_frame",
            _PYDB: "breakpoints cmd_factory do_wait_suspend handle_breakpoint_expression set_suspend",
            _FACTORY: "make_io_message",
            _INFO: "is_in_wait_loop pydev_message pydev_state",
            "_pydevd_bundle.pydevd_trace_dispatch": "should_stop_on_exception handle_exception",
        },
    ),
    Need(
        "quick breakpoints",
        False,
        "setting many breakpoints takes seconds",
        {
            "_pydevd_bundle.pydevd_api": "_get_code_lines",
            "pydevd:PyDevJsonCommandProcessor": "on_setbreakpoints_request",
            _PYDB: "on_breakpoints_changed",
        },
    ),
    Need(
        "functions",
        False,
        "function breakpoints cannot be set",
        {
            "_pydevd_bundle.pydevd_breakpoints": "FunctionBreakpoint",
            "_pydevd_bundle.pydevd_utils": "convert_dap_log_message_to_expression",
            _API: "set_function_breakpoints",
            _PYDB: "_files_filtering multi_threads_single_notification",
            "_pydevd_bundle.pydevd_filtering:FilesFiltering": "in_project_roots",
        },
    ),
    Need(
        "exceptions",
        False,
        "an exception breakpoint may stop more than once a raise, and takes no types",
        {
            _PYDB: "get_exception_breakpoint exclude_exception_by_filter"
            " break_on_caught_exceptions",
            "_pydevd_bundle.pydevd_breakpoints:ExceptionBreakpoint": "ignore_libraries"
            " notify_on_first_raise_only notify_on_user_unhandled_exceptions",
        },
    ),
    Need(
        "failures",
        False,
        "no stop is made where an exception ends something (uncaught)",
        {
            "_pydevd_bundle.pydevd_frame_utils": "create_frames_list_from_traceback",
            "_pydevd_bundle.pydevd_frame_utils:FramesList": "append exc_type",
            "_pydevd_bundle.pydevd_net_command_factory_json": "build_exception_info_response",
            "_pydev_bundle.pydev_is_thread_alive": "is_thread_alive",
            _INFO: "is_tracing pydev_message",
            _PYDB: "set_suspend",
            _MONITORING: "start_monitoring stop_monitoring",
        },
    ),
    Need(
        "threads",
        False,
        "one thread cannot be resumed alone",
        {
            "_pydevd_bundle.pydevd_thread_lifecycle": "resume_threads",
            _PYDB: "get_internal_queue_and_event",
            _INFO: "is_in_wait_loop pydev_original_step_cmd pydev_state",
        },
    ),
    Need(
        "step targets",
        False,
        "of the calls that a step may go into some are missing",
        {
            "_pydevd_bundle.pydevd_bytecode_utils": "Target",
            "_pydevd_bundle.pydevd_bytecode_utils:Target": "children_targets lineno endlineno startcol endcol",
            "_pydevd_bundle.pydevd_bytecode_utils_py311": "_get_smart_step_into_targets",
        },
    ),
    Need(
        "jumps",
        False,
        "a next line that is set may leave a warning in the program",
        {_PYDB: "set_next_statement"},
    ),
    Need(
        "warnings",
        False,
        "a warning that the program has shown once may be shown again after a stop",
        {
            _CONSTANTS: "filter_all_warnings",
            "_pydevd_bundle.pydevd_comm": "filter_all_warnings",
        },
    ),
    Need(
        "traces",
        False,
        "calls cannot be traced",
        {
            _PYDB: "set_suspend pydb_disposed",
            _INFO: "trace_suspend_type",
            "pydevd_tracing": "SetTrace set_trace_to_threads",
        },
    ),
    Need(
        "data breakpoints",
        False,
        "data breakpoints cannot be set",
        {
            _PYDB: "set_suspend pydb_disposed do_wait_suspend",
            _INFO: "trace_suspend_type",
        },
    ),
    Need(
        "traps",
        False,
        "on Python 3.11 a program with a breakpoint runs slower",
        {
            _PYDB: "breakpoints pydb_disposed trace_dispatch get_thread_local_trace_func"
            " _local_thread_trace_func",
            _CONSTANTS: "NO_FTRACE",
            _INFO: "is_tracing",
            "_pydevd_bundle.pydevd_breakpoints:LineBreakpoint": "is_logpoint",
            "pydevd_file_utils": "get_abs_path_real_path_and_base_from_file",
        },
    ),
    Need(
        "tracing",
        False,
        "the program is traced also where nothing needs it, and runs slower",
        {
            "pydevd": "settrace",
            _PYDB: "enable_tracing patch_threads on_breakpoints_changed set_suspend breakpoints"
            " frame_eval_func pydb_disposed ready_to_run created_pydb_daemon_threads"
            " function_breakpoint_name_to_breakpoint break_on_caught_exceptions"
            " break_on_user_uncaught_exceptions break_on_uncaught_exceptions"
            " has_plugin_line_breaks has_plugin_exception_breaks get_thread_local_trace_func"
            " set_trace_for_frame_and_parents",
            _INFO: "pydev_step_cmd pydev_state",
            _MONITORING: "update_monitor_events",
            "pydevd_tracing": "SetTrace set_trace_to_threads _load_python_helper_lib _original_settrace",
            "_pydev_bundle.pydev_monkey": "get_original_start_new_thread",
        },
    ),
    Need(
        "captures",
        False,
        "captures of a program that is not listened to are held back less well",
        {_WRITER: "_cmd_queue"},
    ),
    Need(
        "children",
        False,
        "child processes are seen late, or not at all",
        {
            _PYDB: "dont_trace_external_files",
            _API: "set_dont_trace_start_end_patterns start_patterns end_patterns",
            _WRITER: "_cmd_queue",
        },
    ),
    Need(
        "templates",
        False,
        "the stack shows the Python code of templates, and not their own lines",
        {_FACTORY: "_iter_visible_frames_info"},
    ),
    Need(
        "stacks",
        False,
        "a deep stack takes long to be seen",
        {
            _FACTORY: "_iter_visible_frames_info make_get_thread_stack_message",
            _FRAMES: "get_frames_list",
            _PYDB: "is_files_filter_enabled suspended_frames_manager",
            _SCHEMA: "_translate_id_to_dap",
        },
    ),
    Need(
        "hidden files",
        False,
        "files named as some of the standard library, such as queue.py, are not debugged",
        {_PYDB: "_internal_get_file_type PYDEV_FILE"},
    ),
    Need(
        "lost directory",
        False,
        "where the current directory is gone, code of files with relative names fails",
        {"pydevd_file_utils": "_apply_func_and_normalize_case _library_dir"},
    ),
    Need(
        "absent sources",
        False,
        "functions of modules without sources, compiled under relative names, have no breakpoints",
        {"pydevd_file_utils": "_get_relative_filename_abs_path"},
    ),
    Need(
        "equal codes",
        False,
        "of two files with the same function in the same line only one has breakpoints there",
        {_CONSTANTS: "PYDEVD_USE_SYS_MONITORING", _MONITORING: "ThreadInfo"},
    ),
    Need(
        "known codes",
        False,
        "a step takes long below long functions, and in long files",
        {_PYDB: "get_file_type in_project_scope _clear_caches mtime"},
    ),
    Need(
        "forks",
        False,
        "a forked child may hang at a breakpoint",
        {
            _PYDB: "reader created_pydb_daemon_threads",
            "pydevd_tracing": "SetTrace",
            _CONSTANTS: "set_global_debugger",
        },
    ),
    Need(
        "descriptors",
        False,
        "a program that closes all descriptors loses the debugger, and hangs at its next stop",
        {_WRITER: "sock"},
    ),
    Need(
        "frameworks",
        False,
        "the first look at a value imports Django, where there is one",
        {"_pydevd_bundle.pydevd_xml": "_create_default_type_map"},
    ),
    Need(
        "exit functions",
        False,
        "exit functions (atexit) are not debugged",
        {
            "_pydev_bundle.pydev_is_thread_alive": "is_thread_alive",
            _MONITORING: "ThreadInfo",
            _PYDB: "check_alive_thread",
            "pydevd:CheckAliveThread": "do_kill_pydev_thread",
        },
    ),
    Need(
        "last words",
        False,
        "what a busy program says at its very end may be lost",
        {_PYDB: "dispose_and_kill_all_pydevd_threads add_dap_messages_listener reader"},
    ),
)
"""In the order in which they are reported."""


def _missing_in(place: str, names: Sequence[str]) -> list[str]:
    module, _, attribute = place.partition(":")
    try:
        holder: Any = importlib.import_module(module)
        holder = getattr(holder, attribute) if attribute else holder
    except (ImportError, AttributeError):
        return list(names)
    return [name for name in names if not _has_name_of(holder, name)]


def _has_name_of(holder: Any, name: str) -> bool:
    """What only its objects have is named in its code: in no other way can it be seen here."""
    if hasattr(holder, name):
        return True
    if type(holder) is type(sys):
        return False
    return any(
        name in names for cls in holder.__mro__ for names in _names_in_code(vars(cls).values())
    )


def _names_in_code(values: Any) -> Iterator[Any]:
    for value in values:
        code = getattr(value, "__code__", value)
        if hasattr(code, "co_names"):
            yield code.co_names
            yield from _names_in_code(code.co_consts)
