"""Stack frames: their scopes and code, and the expressions that are looked up or run in them.

stack_frames        frames by the numbers that DAP gives them, apart from the debugger's own
namespaces          their locals and globals, in the order of definition
scopes              the same, as DAP has them
frame_memory        what only memory says of one: cells, and what an instruction is about to take
frame_moves         frames that are made to go on in another code
kept_locals         what was looked at, which a frame keeps no longer as it runs on
made_frames         those that a library has made for a traceback
templates           where a frame that renders a template is to be shown
stack_answers       the answer to `stackTrace`, made directly
snapshot            the locals of several frames in one answer, within one budget
report              the locals that matter and the whole stack, for a short report
returns             what calls returned while the program was stepped
expressions         expressions compiled and run as if they stood in the frame
evaluation          what one is worth, as an answer
assignment          another value for a variable, an attribute or an item
static_lookup       names and completions by stored facts: nothing of the program runs
stored_expressions  expressions of names, attributes and items, looked up without running anything
state_targets       places in the program's state that hold a value, and what they hold now
computed_state      what the program computes, where an expression seems to name a place
variable_targets    the place that the name of a variable means
named_targets       the place that an expression names
modules             modules that are loaded, and the source as their loaders give it
code_reading        the instructions of a code
code_table          facts by code object, each object for itself
opcodes             facts about single instructions
joined_groups       what leaves an `except*` on Python 3.11, which nobody is told of
bytecode            the call that a frame stands in, and what it takes from the stack
with_blocks         the `with` blocks around the place where a frame stands
comprehensions      where a variable's name means one of a comprehension in the same frame
statement_visits    whether a line is come back to within one statement
"""
