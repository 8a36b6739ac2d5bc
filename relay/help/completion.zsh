#compdef relay
# eval "$(relay completion zsh)"
_relay_commands() {
    case "$1" in
    '') printf '%s\n' 'adapters:List debuggers for other languages, and add one.' 'agent:Make the relay known to clients of agents.' 'attach:Debug a program that runs already.' 'break:Set, list or delete breakpoints.' 'completion:Print what completes this command in a shell.' 'continue:Run to the next stop.' 'dap:Let an editor join a session, by the Debug Adapter Protocol.' 'demo:Find a bug in a bundled program, call by call.' 'diff:Run twice, and show the first call that went otherwise. Needs no server.' 'doctor:Check what the relay needs, and say how to fix it.' 'end:End a session and its program.' 'eval:Evaluate an expression where the program stands.' 'ez:The line protocol as a debugger command that editors spawn.' 'hang:Show what a program that hangs waits for.' 'input:Give the program a line to read.' 'locals:Show the local variables.' 'mcp:Tools for agents, over MCP on standard input and output.' 'output:Show what the program printed.' 'pause:Stop the running program where it is.' 'perl-adapter:Speak DAP on stdin and stdout, for Perl programs.' 'restart:Start the session'"'"'s program again.' 'run:Run a program once, and show every stop. Needs no server.' 'serve:Hold debug sessions and answer over HTTP.' 'sessions:List the sessions.' 'stack:Show the call stack.' 'start:Start a program under the debugger.' 'stdio:Debug one program by JSON lines on standard input and output.' 'step:Step one line: over, into or out.' 'stop:End the server in the background.' 'trace:Run to a call of a function, and show it whole.' 'ui:Open the page of the relay in a browser.' 'until:Run to a line.' 'watch:Stop when a value changes.' 'where:Show where the program stands.' 'why:Show who wrote a value, at a stop.' ;;
    adapters) printf '%s\n' 'add:Have the relay use a debugger of this machine.' 'list:Show what is configured, and what is on this machine.' 'remove:Take an adapter out of config.json.' ;;
    'adapters add') printf '%s\n' lldb: dlv: rdbg: gdb: codelldb: js-debug: ;;
    agent) printf '%s\n' 'hook:Offer the debugger when a test run failed.' 'install:Write what a client needs, or take it away.' ;;
    completion) printf '%s\n' bash: fish: zsh: ;;
    ez) printf '%s\n' 'debugserver:Debug FILE: as `relay stdio`, with FILE initialized already.' 'version:Print the version, and that is all.' ;;
    step) printf '%s\n' over: into: out: ;;
    esac
}
_relay_options() {
    case "$1" in
    '') printf '%s\n' '--version:Show the version and exit' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    adapters) printf '%s\n' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    'adapters add') printf '%s\n' '--as:What it is called here' '--executable:Where it is' '--dry-run:Only show what would be written' '--state-dir:Directory of config.json' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    'adapters list') printf '%s\n' '--json:Print JSON, for programs' '--state-dir:Directory of config.json' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    'adapters remove') printf '%s\n' '--dry-run:Only show what would be written' '--state-dir:Directory of config.json' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    agent) printf '%s\n' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    'agent hook') printf '%s\n' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    'agent install') printf '%s\n' '--client:claude-code, codex, gemini, vscode, cursor, windsurf, zed, opencode or cline' '--dry-run:Only show what would be written' '--uninstall:Take away what was installed' '--project:For this directory and whoever works in it, not for the user' '--name:What the MCP server is called there' '--state-dir:Directory of config.json' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    attach) printf '%s\n' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-b:Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called' '--break:Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called' '--adapter:Debugger of the program' '--connect-timeout:How long an attach may take to be answered' '--wait:How long to wait for the next stop, question or end' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    break) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-d:Delete this one' '--delete:Delete this one' '--log:Print TEXT with its {expressions} instead of stopping' '--hits:Stop by the count of hits' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    completion) printf '%s\n' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    continue) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--wait:How long to wait for the next stop, question or end' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    dap) printf '%s\n' '-s:The session to join' '--session:The session to join' '--read-only:The editor sees everything and changes nothing' '--listen:Serve editors of this user on this port of 127.0.0.1, 0 for a free one, instead of stdin a' '--url:The server' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    demo) printf '%s\n' '--keep-program:Leave the buggy program on disk, and say where' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    diff) printf '%s\n' '--rev:Compare this tree with a revision of it, of git' '--focus:Files, folders, modules, FILE:FUNCTION, with commas between' '--timeout:End each run after so long, and compare what it has called by then' '--python:Interpreter of both, as in relay run' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    doctor) printf '%s\n' '--report:Write all that a report of a fault needs to a JSON file, with secrets masked' '--json:Print the checks as JSON, for programs' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    end) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--all:End every session of the server' '--detach:Leave the program running, without the debugger' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    eval) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-f:Frame of the stack, counted from the top' '--frame:Frame of the stack, counted from the top' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    ez) printf '%s\n' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    'ez debugserver') printf '%s\n' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    'ez version') printf '%s\n' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    hang) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--pid:Of this process' '--connect-timeout:How long an attach may take to be answered' '--reveal:Show what is masked by its name, too' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    input) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--eof:Close the program'"'"'s standard input after it' '-n:Send TEXT as it is' '--no-newline:Send TEXT as it is' '--wait:How long to wait for the next stop, question or end' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    locals) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-f:Frame of the stack, counted from the top' '--frame:Frame of the stack, counted from the top' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    mcp) printf '%s\n' --tools:default '--project-root:Where relative paths start' '--python-path:Interpreter of programs' '--max-sessions:Sessions that may live at once' '--state-dir:Directory of config.json' '--log-level:What is logged to standard error' '--log-format:Lines of the log as text, or each a JSON object' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    output) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--only:Only what went there' '-f:Go on until the program ends' '--follow:Go on until the program ends' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    pause) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--wait:How long to wait for the stop, also of a program that sleeps or is in C code' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    perl-adapter) printf '%s\n' '--library:Print the directory for perl -I (to attach), and exit' '--no-seccomp:Evaluate as where the system has no seccomp' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    restart) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--wait:How long to wait for the next stop, question or end' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    run) printf '%s\n' '-b:Stop at FILE:LINE, or in FUNCTION or FILE:FUNCTION' '--break:Stop at FILE:LINE, or in FUNCTION or FILE:FUNCTION' '--log:Print MESSAGE; {x} is filled in' '--capture:Keep values of EXPR' '--watch:From the first time at PLACE on, stop when what EXPR names there has changed' '--eval:Show at each stop' '--why:At the first stop' '--record:Keep a log, from the start, of who writes what EXPR names at PLACE (FILE:LINE or a functio' '--calls:Show which own functions were called, and how' '--on-exception:Show each exception that ends something' '--trace:Show the first such call whole, line by line' '--until-result:Let calls go by until EXPR is true of one'"'"'s result, exception or arguments' '--depth:Levels of calls that a trace shows line by line' '--reports:Failures shown in full' '--until:End the program at its Nth stop' '--timeout:End the program after so long, and show what each thread waits for' '--json:JSON lines on stdout, output inside them' '--max-chars:Bytes of one stop'"'"'s report' --python:Interpreter '--adapter:Debugger of the program' '--stdin:What the program reads' '--children:Debug the Python processes that it starts, too' '--no-children:Debug the Python processes that it starts, too' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    serve) printf '%s\n' '--host:Address to listen on' '--port:TCP port' '--uds:Unix socket to listen on instead of a port' '--state-dir:Directory of config.json' '--project-root:Project root of sessions that name none' '--python-path:Interpreter of sessions that name none' '--relay-id:What this relay is called among several' '--max-sessions:Sessions that may live at once' '--default-timeout-minutes:Idle time after which a session ends' '--request-timeout-seconds:Time limit of one question to a debuggee' '--launch-timeout-seconds:Time limit from the start of a program to its first line' '--output-limit-bytes:Output kept per session' '--event-limit:Events kept per session' '--standby:Debuggees that wait for the next launch of their kind' --no-standby:None '--standby-minutes:How long a debuggee waits for a launch before it is ended' '--exit-when-idle:End after so long without a session and without a request' '--token:Bearer token that every request must carry' '--allowed-host:Host name to accept besides the loopback ones' '--allowed-root:Directory below which scripts, sources, working directories and interpreters have to lie t' '--same-user-only:Whether processes of other users of this machine are refused at a TCP port, root'"'"'s excepte' '--no-same-user-only:Whether processes of other users of this machine are refused at a TCP port, root'"'"'s excepte' '--requests-per-second:Requests that one client may send in a second over HTTP, and as many at once' '--redact-pattern:Name whose values are masked, in place of the default ones' '--redact-credentials:Whether keys, tokens and passwords are masked by their shapes as well, in values and in ou' '--no-redact-credentials:Whether keys, tokens and passwords are masked by their shapes as well, in values and in ou' '--log-level:What is logged to standard error' '--log-format:Lines of the log as text, or each a JSON object' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    sessions) printf '%s\n' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    stack) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    start) printf '%s\n' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-b:Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called' '--break:Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called' '--stop-on-entry:Stop at the program'"'"'s first line' '--on-exception:Stop where an exception that ends something is raised' '--no-on-exception:Stop where an exception that ends something is raised' '--on-raise:Stop at exceptions that are caught, too' '-e:Variable of the program, or one of this shell to pass on' '--env:Variable of the program, or one of this shell to pass on' '--limit:What the program may use' '--record:Keep a log, from the start, of who writes what EXPR names at PLACE (FILE:LINE or a functio' '--children:Debug the Python processes that it starts, too' '--no-children:Debug the Python processes that it starts, too' '--python:Interpreter of the program' '--adapter:Debugger of the program' '--name:Name of the session, for people' '--wait:How long to wait for the next stop, question or end' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    stdio) printf '%s\n' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    step) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--wait:How long to wait for the next stop, question or end' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    stop) printf '%s\n' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    trace) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--wait:How long to wait for the next stop, question or end' '--until-result:Let calls go by until EXPR is true of one'"'"'s result, exception or arguments' '--depth:Levels of calls that a trace shows line by line' '--call:The Nth such call' '--max-chars:Bound of the text' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    ui) printf '%s\n' '--url:Of another server than the one that runs here' '--no-open:Only print the address' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    until) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--wait:How long to wait for the next stop, question or end' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    watch) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-f:Frame of the stack, counted from the top' '--frame:Frame of the stack, counted from the top' '--if:Only at changes that make this true' '-d:Delete this one' '--delete:Delete this one' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    where) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '--wait:If it runs, wait so long for its next stop, question or end' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    why) printf '%s\n' '-s:The session' '--session:The session' '--url:The server' '--json:Print the API'"'"'s data as JSON, for programs' '-f:Frame of the stack, counted from the top' '--frame:Frame of the stack, counted from the top' '-n:Writes to show, the newest first' '--limit:Writes to show, the newest first' '--wait:What the second run may take' '-h:Show this message and exit' '--help:Show this message and exit' ;;
    esac
}
# Fails where no value is expected.
_relay_values() {
    case "$1" in
    'adapters add --as') : ;;
    'adapters add --executable') : ;;
    'adapters add --state-dir') : ;;
    'adapters list --state-dir') : ;;
    'adapters remove --state-dir') : ;;
    'agent install --client') printf '%s\n' claude-code codex gemini vscode cursor windsurf zed opencode cline ;;
    'agent install --name') : ;;
    'agent install --state-dir') : ;;
    'attach --adapter') : ;;
    'attach --break') : ;;
    'attach --connect-timeout') : ;;
    'attach --url') : ;;
    'attach --wait') : ;;
    'attach -b') : ;;
    'break --delete') : ;;
    'break --hits') : ;;
    'break --log') : ;;
    'break --session') : ;;
    'break --url') : ;;
    'break -d') : ;;
    'break -s') : ;;
    'continue --session') : ;;
    'continue --url') : ;;
    'continue --wait') : ;;
    'continue -s') : ;;
    'dap --listen') : ;;
    'dap --session') : ;;
    'dap --url') : ;;
    'dap -s') : ;;
    'diff --focus') : ;;
    'diff --python') : ;;
    'diff --rev') : ;;
    'diff --timeout') : ;;
    'doctor --report') : ;;
    'end --session') : ;;
    'end --url') : ;;
    'end -s') : ;;
    'eval --frame') : ;;
    'eval --session') : ;;
    'eval --url') : ;;
    'eval -f') : ;;
    'eval -s') : ;;
    'hang --connect-timeout') : ;;
    'hang --pid') : ;;
    'hang --session') : ;;
    'hang --url') : ;;
    'hang -s') : ;;
    'input --session') : ;;
    'input --url') : ;;
    'input --wait') : ;;
    'input -s') : ;;
    'locals --frame') : ;;
    'locals --session') : ;;
    'locals --url') : ;;
    'locals -f') : ;;
    'locals -s') : ;;
    'mcp --log-format') printf '%s\n' text json ;;
    'mcp --log-level') printf '%s\n' debug info warning error ;;
    'mcp --max-sessions') : ;;
    'mcp --project-root') : ;;
    'mcp --python-path') : ;;
    'mcp --state-dir') : ;;
    'mcp --tools') printf '%s\n' default v0 ;;
    'output --only') printf '%s\n' stdout stderr console ;;
    'output --session') : ;;
    'output --url') : ;;
    'output -s') : ;;
    'pause --session') : ;;
    'pause --url') : ;;
    'pause --wait') : ;;
    'pause -s') : ;;
    'restart --session') : ;;
    'restart --url') : ;;
    'restart --wait') : ;;
    'restart -s') : ;;
    'run --adapter') : ;;
    'run --break') : ;;
    'run --calls') : ;;
    'run --capture') : ;;
    'run --depth') : ;;
    'run --eval') : ;;
    'run --log') : ;;
    'run --max-chars') : ;;
    'run --python') : ;;
    'run --record') : ;;
    'run --reports') : ;;
    'run --stdin') : ;;
    'run --timeout') : ;;
    'run --trace') : ;;
    'run --until') : ;;
    'run --until-result') : ;;
    'run --watch') : ;;
    'run --why') : ;;
    'run -b') : ;;
    'serve --allowed-host') : ;;
    'serve --allowed-root') : ;;
    'serve --default-timeout-minutes') : ;;
    'serve --event-limit') : ;;
    'serve --exit-when-idle') : ;;
    'serve --host') : ;;
    'serve --launch-timeout-seconds') : ;;
    'serve --log-format') printf '%s\n' text json ;;
    'serve --log-level') printf '%s\n' debug info warning error ;;
    'serve --max-sessions') : ;;
    'serve --output-limit-bytes') : ;;
    'serve --port') : ;;
    'serve --project-root') : ;;
    'serve --python-path') : ;;
    'serve --redact-pattern') : ;;
    'serve --relay-id') : ;;
    'serve --request-timeout-seconds') : ;;
    'serve --requests-per-second') : ;;
    'serve --standby') : ;;
    'serve --standby-minutes') : ;;
    'serve --state-dir') : ;;
    'serve --token') : ;;
    'serve --uds') : ;;
    'sessions --url') : ;;
    'stack --session') : ;;
    'stack --url') : ;;
    'stack -s') : ;;
    'start --adapter') : ;;
    'start --break') : ;;
    'start --env') : ;;
    'start --limit') : ;;
    'start --name') : ;;
    'start --python') : ;;
    'start --record') : ;;
    'start --url') : ;;
    'start --wait') : ;;
    'start -b') : ;;
    'start -e') : ;;
    'step --session') : ;;
    'step --url') : ;;
    'step --wait') : ;;
    'step -s') : ;;
    'stop --url') : ;;
    'trace --call') : ;;
    'trace --depth') : ;;
    'trace --max-chars') : ;;
    'trace --session') : ;;
    'trace --until-result') : ;;
    'trace --url') : ;;
    'trace --wait') : ;;
    'trace -s') : ;;
    'ui --url') : ;;
    'until --session') : ;;
    'until --url') : ;;
    'until --wait') : ;;
    'until -s') : ;;
    'watch --delete') : ;;
    'watch --frame') : ;;
    'watch --if') : ;;
    'watch --session') : ;;
    'watch --url') : ;;
    'watch -d') : ;;
    'watch -f') : ;;
    'watch -s') : ;;
    'where --session') : ;;
    'where --url') : ;;
    'where --wait') : ;;
    'where -s') : ;;
    'why --frame') : ;;
    'why --limit') : ;;
    'why --session') : ;;
    'why --url') : ;;
    'why --wait') : ;;
    'why -f') : ;;
    'why -n') : ;;
    'why -s') : ;;
    *) return 1 ;;
    esac
}
_relay_is_command() {
    case "$1" in
    adapters|'adapters add'|'adapters list'|'adapters remove'|agent|'agent hook'|'agent install'|attach|break|completion|continue|dap|demo|diff|doctor|end|eval|ez|'ez debugserver'|'ez version'|hang|input|locals|mcp|output|pause|perl-adapter|restart|run|serve|sessions|stack|start|stdio|step|stop|trace|ui|until|watch|where|why) ;;
    *) return 1 ;;
    esac
}
_relay() {
    local cur=$words[CURRENT] prev=$words[CURRENT-1] key="" word found
    local -i i
    local -a lines
    for ((i = 2; i < CURRENT; i++)); do
        word=$words[i]
        if [[ $word == -- ]]; then _files; return; fi
        _relay_is_command "${key:+$key }$word" && key="${key:+$key }$word"
    done
    if ! found=$(_relay_values "$key $prev"); then
        if [[ $cur == -* ]]; then
            found=$(_relay_options "$key")
        else
            found=$(_relay_commands "$key")
        fi
    fi
    if [[ -z $found ]]; then _files; return; fi
    lines=("${(@f)found}")
    _describe relay lines
}
# As a file of $fpath it is called at once; else it is only made known.
if [[ $funcstack[1] == _relay ]]; then _relay "$@"; else compdef _relay relay; fi
