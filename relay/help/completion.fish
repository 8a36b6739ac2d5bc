# relay completion fish | source
function __relay_at
    set -l key
    for word in (commandline -opc)[2..-1]
        test "$word" = -- ; and return 1
        switch (string trim -- "$key $word")
            case 'adapters' 'adapters add' 'adapters list' 'adapters remove' 'agent' 'agent hook' 'agent install' 'attach' 'break' 'completion' 'continue' 'dap' 'demo' 'diff' 'doctor' 'end' 'eval' 'ez' 'ez debugserver' 'ez version' 'hang' 'input' 'locals' 'mcp' 'output' 'pause' 'perl-adapter' 'restart' 'run' 'serve' 'sessions' 'stack' 'start' 'stdio' 'step' 'stop' 'trace' 'ui' 'until' 'watch' 'where' 'why'
                set -a key $word
        end
    end
    test "$key" = "$argv"
end
complete -c relay -n '__relay_at' -f
complete -c relay -n '__relay_at' -a 'adapters' -d 'List debuggers for other languages, and add one.'
complete -c relay -n '__relay_at' -a 'agent' -d 'Make the relay known to clients of agents.'
complete -c relay -n '__relay_at' -a 'attach' -d 'Debug a program that runs already.'
complete -c relay -n '__relay_at' -a 'break' -d 'Set, list or delete breakpoints.'
complete -c relay -n '__relay_at' -a 'completion' -d 'Print what completes this command in a shell.'
complete -c relay -n '__relay_at' -a 'continue' -d 'Run to the next stop.'
complete -c relay -n '__relay_at' -a 'dap' -d 'Let an editor join a session, by the Debug Adapter Protocol.'
complete -c relay -n '__relay_at' -a 'demo' -d 'Find a bug in a bundled program, call by call.'
complete -c relay -n '__relay_at' -a 'diff' -d 'Run twice, and show the first call that went otherwise. Needs no server.'
complete -c relay -n '__relay_at' -a 'doctor' -d 'Check what the relay needs, and say how to fix it.'
complete -c relay -n '__relay_at' -a 'end' -d 'End a session and its program.'
complete -c relay -n '__relay_at' -a 'eval' -d 'Evaluate an expression where the program stands.'
complete -c relay -n '__relay_at' -a 'ez' -d 'The line protocol as a debugger command that editors spawn.'
complete -c relay -n '__relay_at' -a 'hang' -d 'Show what a program that hangs waits for.'
complete -c relay -n '__relay_at' -a 'input' -d 'Give the program a line to read.'
complete -c relay -n '__relay_at' -a 'locals' -d 'Show the local variables.'
complete -c relay -n '__relay_at' -a 'mcp' -d 'Tools for agents, over MCP on standard input and output.'
complete -c relay -n '__relay_at' -a 'output' -d 'Show what the program printed.'
complete -c relay -n '__relay_at' -a 'pause' -d 'Stop the running program where it is.'
complete -c relay -n '__relay_at' -a 'perl-adapter' -d 'Speak DAP on stdin and stdout, for Perl programs.'
complete -c relay -n '__relay_at' -a 'restart' -d 'Start the session\'s program again.'
complete -c relay -n '__relay_at' -a 'run' -d 'Run a program once, and show every stop. Needs no server.'
complete -c relay -n '__relay_at' -a 'serve' -d 'Hold debug sessions and answer over HTTP.'
complete -c relay -n '__relay_at' -a 'sessions' -d 'List the sessions.'
complete -c relay -n '__relay_at' -a 'stack' -d 'Show the call stack.'
complete -c relay -n '__relay_at' -a 'start' -d 'Start a program under the debugger.'
complete -c relay -n '__relay_at' -a 'stdio' -d 'Debug one program by JSON lines on standard input and output.'
complete -c relay -n '__relay_at' -a 'step' -d 'Step one line: over, into or out.'
complete -c relay -n '__relay_at' -a 'stop' -d 'End the server in the background.'
complete -c relay -n '__relay_at' -a 'trace' -d 'Run to a call of a function, and show it whole.'
complete -c relay -n '__relay_at' -a 'ui' -d 'Open the page of the relay in a browser.'
complete -c relay -n '__relay_at' -a 'until' -d 'Run to a line.'
complete -c relay -n '__relay_at' -a 'watch' -d 'Stop when a value changes.'
complete -c relay -n '__relay_at' -a 'where' -d 'Show where the program stands.'
complete -c relay -n '__relay_at' -a 'why' -d 'Show who wrote a value, at a stop.'
complete -c relay -n '__relay_at' -l version -d 'Show the version and exit'
complete -c relay -n '__relay_at' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at adapters' -f
complete -c relay -n '__relay_at adapters' -a 'add' -d 'Have the relay use a debugger of this machine.'
complete -c relay -n '__relay_at adapters' -a 'list' -d 'Show what is configured, and what is on this machine.'
complete -c relay -n '__relay_at adapters' -a 'remove' -d 'Take an adapter out of config.json.'
complete -c relay -n '__relay_at adapters' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at adapters' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at adapters add' -f
complete -c relay -n '__relay_at adapters add' -a 'lldb' -d ''
complete -c relay -n '__relay_at adapters add' -a 'dlv' -d ''
complete -c relay -n '__relay_at adapters add' -a 'rdbg' -d ''
complete -c relay -n '__relay_at adapters add' -a 'gdb' -d ''
complete -c relay -n '__relay_at adapters add' -a 'codelldb' -d ''
complete -c relay -n '__relay_at adapters add' -a 'js-debug' -d ''
complete -c relay -n '__relay_at adapters add' -l as -d 'What it is called here' -r
complete -c relay -n '__relay_at adapters add' -l executable -d 'Where it is' -r
complete -c relay -n '__relay_at adapters add' -l dry-run -d 'Only show what would be written'
complete -c relay -n '__relay_at adapters add' -l state-dir -d 'Directory of config.json' -r
complete -c relay -n '__relay_at adapters add' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at adapters add' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at adapters list' -l json -d 'Print JSON, for programs'
complete -c relay -n '__relay_at adapters list' -l state-dir -d 'Directory of config.json' -r
complete -c relay -n '__relay_at adapters list' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at adapters list' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at adapters remove' -l dry-run -d 'Only show what would be written'
complete -c relay -n '__relay_at adapters remove' -l state-dir -d 'Directory of config.json' -r
complete -c relay -n '__relay_at adapters remove' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at adapters remove' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at agent' -f
complete -c relay -n '__relay_at agent' -a 'hook' -d 'Offer the debugger when a test run failed.'
complete -c relay -n '__relay_at agent' -a 'install' -d 'Write what a client needs, or take it away.'
complete -c relay -n '__relay_at agent' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at agent' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at agent hook' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at agent hook' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at agent install' -l client -d 'claude-code, codex, gemini, vscode, cursor, windsurf, zed, opencode or cline' -x -a 'claude-code codex gemini vscode cursor windsurf zed opencode cline'
complete -c relay -n '__relay_at agent install' -l dry-run -d 'Only show what would be written'
complete -c relay -n '__relay_at agent install' -l uninstall -d 'Take away what was installed'
complete -c relay -n '__relay_at agent install' -l project -d 'For this directory and whoever works in it, not for the user'
complete -c relay -n '__relay_at agent install' -l name -d 'What the MCP server is called there' -r
complete -c relay -n '__relay_at agent install' -l state-dir -d 'Directory of config.json' -r
complete -c relay -n '__relay_at agent install' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at agent install' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at attach' -l url -d 'The server' -r
complete -c relay -n '__relay_at attach' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at attach' -s b -d 'Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called' -r
complete -c relay -n '__relay_at attach' -l break -d 'Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called' -r
complete -c relay -n '__relay_at attach' -l adapter -d 'Debugger of the program' -r
complete -c relay -n '__relay_at attach' -l connect-timeout -d 'How long an attach may take to be answered' -r
complete -c relay -n '__relay_at attach' -l wait -d 'How long to wait for the next stop, question or end' -r
complete -c relay -n '__relay_at attach' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at attach' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at break' -s s -d 'The session' -r
complete -c relay -n '__relay_at break' -l session -d 'The session' -r
complete -c relay -n '__relay_at break' -l url -d 'The server' -r
complete -c relay -n '__relay_at break' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at break' -s d -d 'Delete this one' -r
complete -c relay -n '__relay_at break' -l delete -d 'Delete this one' -r
complete -c relay -n '__relay_at break' -l log -d 'Print TEXT with its {expressions} instead of stopping' -r
complete -c relay -n '__relay_at break' -l hits -d 'Stop by the count of hits' -r
complete -c relay -n '__relay_at break' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at break' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at completion' -f
complete -c relay -n '__relay_at completion' -a 'bash' -d ''
complete -c relay -n '__relay_at completion' -a 'fish' -d ''
complete -c relay -n '__relay_at completion' -a 'zsh' -d ''
complete -c relay -n '__relay_at completion' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at completion' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at continue' -s s -d 'The session' -r
complete -c relay -n '__relay_at continue' -l session -d 'The session' -r
complete -c relay -n '__relay_at continue' -l url -d 'The server' -r
complete -c relay -n '__relay_at continue' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at continue' -l wait -d 'How long to wait for the next stop, question or end' -r
complete -c relay -n '__relay_at continue' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at continue' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at dap' -s s -d 'The session to join' -r
complete -c relay -n '__relay_at dap' -l session -d 'The session to join' -r
complete -c relay -n '__relay_at dap' -l read-only -d 'The editor sees everything and changes nothing'
complete -c relay -n '__relay_at dap' -l listen -d 'Serve editors of this user on this port of 127.0.0.1, 0 for a free one, instead of stdin a' -r
complete -c relay -n '__relay_at dap' -l url -d 'The server' -r
complete -c relay -n '__relay_at dap' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at dap' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at demo' -l keep-program -d 'Leave the buggy program on disk, and say where'
complete -c relay -n '__relay_at demo' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at demo' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at diff' -l rev -d 'Compare this tree with a revision of it, of git' -r
complete -c relay -n '__relay_at diff' -l focus -d 'Files, folders, modules, FILE:FUNCTION, with commas between' -r
complete -c relay -n '__relay_at diff' -l timeout -d 'End each run after so long, and compare what it has called by then' -r
complete -c relay -n '__relay_at diff' -l python -d 'Interpreter of both, as in relay run' -r
complete -c relay -n '__relay_at diff' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at diff' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at doctor' -l report -d 'Write all that a report of a fault needs to a JSON file, with secrets masked' -r
complete -c relay -n '__relay_at doctor' -l json -d 'Print the checks as JSON, for programs'
complete -c relay -n '__relay_at doctor' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at doctor' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at end' -s s -d 'The session' -r
complete -c relay -n '__relay_at end' -l session -d 'The session' -r
complete -c relay -n '__relay_at end' -l url -d 'The server' -r
complete -c relay -n '__relay_at end' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at end' -l all -d 'End every session of the server'
complete -c relay -n '__relay_at end' -l detach -d 'Leave the program running, without the debugger'
complete -c relay -n '__relay_at end' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at end' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at eval' -s s -d 'The session' -r
complete -c relay -n '__relay_at eval' -l session -d 'The session' -r
complete -c relay -n '__relay_at eval' -l url -d 'The server' -r
complete -c relay -n '__relay_at eval' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at eval' -s f -d 'Frame of the stack, counted from the top' -r
complete -c relay -n '__relay_at eval' -l frame -d 'Frame of the stack, counted from the top' -r
complete -c relay -n '__relay_at eval' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at eval' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at ez' -f
complete -c relay -n '__relay_at ez' -a 'debugserver' -d 'Debug FILE: as `relay stdio`, with FILE initialized already.'
complete -c relay -n '__relay_at ez' -a 'version' -d 'Print the version, and that is all.'
complete -c relay -n '__relay_at ez' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at ez' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at ez debugserver' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at ez debugserver' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at ez version' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at ez version' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at hang' -s s -d 'The session' -r
complete -c relay -n '__relay_at hang' -l session -d 'The session' -r
complete -c relay -n '__relay_at hang' -l url -d 'The server' -r
complete -c relay -n '__relay_at hang' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at hang' -l pid -d 'Of this process' -r
complete -c relay -n '__relay_at hang' -l connect-timeout -d 'How long an attach may take to be answered' -r
complete -c relay -n '__relay_at hang' -l reveal -d 'Show what is masked by its name, too'
complete -c relay -n '__relay_at hang' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at hang' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at input' -s s -d 'The session' -r
complete -c relay -n '__relay_at input' -l session -d 'The session' -r
complete -c relay -n '__relay_at input' -l url -d 'The server' -r
complete -c relay -n '__relay_at input' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at input' -l eof -d 'Close the program\'s standard input after it'
complete -c relay -n '__relay_at input' -s n -d 'Send TEXT as it is'
complete -c relay -n '__relay_at input' -l no-newline -d 'Send TEXT as it is'
complete -c relay -n '__relay_at input' -l wait -d 'How long to wait for the next stop, question or end' -r
complete -c relay -n '__relay_at input' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at input' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at locals' -s s -d 'The session' -r
complete -c relay -n '__relay_at locals' -l session -d 'The session' -r
complete -c relay -n '__relay_at locals' -l url -d 'The server' -r
complete -c relay -n '__relay_at locals' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at locals' -s f -d 'Frame of the stack, counted from the top' -r
complete -c relay -n '__relay_at locals' -l frame -d 'Frame of the stack, counted from the top' -r
complete -c relay -n '__relay_at locals' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at locals' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at mcp' -l tools -d 'default' -x -a 'default v0'
complete -c relay -n '__relay_at mcp' -l project-root -d 'Where relative paths start' -r
complete -c relay -n '__relay_at mcp' -l python-path -d 'Interpreter of programs' -r
complete -c relay -n '__relay_at mcp' -l max-sessions -d 'Sessions that may live at once' -r
complete -c relay -n '__relay_at mcp' -l state-dir -d 'Directory of config.json' -r
complete -c relay -n '__relay_at mcp' -l log-level -d 'What is logged to standard error' -x -a 'debug info warning error'
complete -c relay -n '__relay_at mcp' -l log-format -d 'Lines of the log as text, or each a JSON object' -x -a 'text json'
complete -c relay -n '__relay_at mcp' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at mcp' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at output' -s s -d 'The session' -r
complete -c relay -n '__relay_at output' -l session -d 'The session' -r
complete -c relay -n '__relay_at output' -l url -d 'The server' -r
complete -c relay -n '__relay_at output' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at output' -l only -d 'Only what went there' -x -a 'stdout stderr console'
complete -c relay -n '__relay_at output' -s f -d 'Go on until the program ends'
complete -c relay -n '__relay_at output' -l follow -d 'Go on until the program ends'
complete -c relay -n '__relay_at output' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at output' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at pause' -s s -d 'The session' -r
complete -c relay -n '__relay_at pause' -l session -d 'The session' -r
complete -c relay -n '__relay_at pause' -l url -d 'The server' -r
complete -c relay -n '__relay_at pause' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at pause' -l wait -d 'How long to wait for the stop, also of a program that sleeps or is in C code' -r
complete -c relay -n '__relay_at pause' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at pause' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at perl-adapter' -l library -d 'Print the directory for perl -I (to attach), and exit'
complete -c relay -n '__relay_at perl-adapter' -l no-seccomp -d 'Evaluate as where the system has no seccomp'
complete -c relay -n '__relay_at perl-adapter' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at perl-adapter' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at restart' -s s -d 'The session' -r
complete -c relay -n '__relay_at restart' -l session -d 'The session' -r
complete -c relay -n '__relay_at restart' -l url -d 'The server' -r
complete -c relay -n '__relay_at restart' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at restart' -l wait -d 'How long to wait for the next stop, question or end' -r
complete -c relay -n '__relay_at restart' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at restart' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at run' -s b -d 'Stop at FILE:LINE, or in FUNCTION or FILE:FUNCTION' -r
complete -c relay -n '__relay_at run' -l break -d 'Stop at FILE:LINE, or in FUNCTION or FILE:FUNCTION' -r
complete -c relay -n '__relay_at run' -l log -d 'Print MESSAGE; {x} is filled in' -r
complete -c relay -n '__relay_at run' -l capture -d 'Keep values of EXPR' -r
complete -c relay -n '__relay_at run' -l watch -d 'From the first time at PLACE on, stop when what EXPR names there has changed' -r
complete -c relay -n '__relay_at run' -l eval -d 'Show at each stop' -r
complete -c relay -n '__relay_at run' -l why -d 'At the first stop' -r
complete -c relay -n '__relay_at run' -l record -d 'Keep a log, from the start, of who writes what EXPR names at PLACE (FILE:LINE or a functio' -r
complete -c relay -n '__relay_at run' -l calls -d 'Show which own functions were called, and how' -r
complete -c relay -n '__relay_at run' -l on-exception -d 'Show each exception that ends something'
complete -c relay -n '__relay_at run' -l trace -d 'Show the first such call whole, line by line' -r
complete -c relay -n '__relay_at run' -l until-result -d 'Let calls go by until EXPR is true of one\'s result, exception or arguments' -r
complete -c relay -n '__relay_at run' -l depth -d 'Levels of calls that a trace shows line by line' -r
complete -c relay -n '__relay_at run' -l reports -d 'Failures shown in full' -r
complete -c relay -n '__relay_at run' -l until -d 'End the program at its Nth stop' -r
complete -c relay -n '__relay_at run' -l timeout -d 'End the program after so long, and show what each thread waits for' -r
complete -c relay -n '__relay_at run' -l json -d 'JSON lines on stdout, output inside them'
complete -c relay -n '__relay_at run' -l max-chars -d 'Bytes of one stop\'s report' -r
complete -c relay -n '__relay_at run' -l python -d 'Interpreter' -r
complete -c relay -n '__relay_at run' -l adapter -d 'Debugger of the program' -r
complete -c relay -n '__relay_at run' -l stdin -d 'What the program reads' -r
complete -c relay -n '__relay_at run' -l children -d 'Debug the Python processes that it starts, too'
complete -c relay -n '__relay_at run' -l no-children -d 'Debug the Python processes that it starts, too'
complete -c relay -n '__relay_at run' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at run' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at serve' -l host -d 'Address to listen on' -r
complete -c relay -n '__relay_at serve' -l port -d 'TCP port' -r
complete -c relay -n '__relay_at serve' -l uds -d 'Unix socket to listen on instead of a port' -r
complete -c relay -n '__relay_at serve' -l state-dir -d 'Directory of config.json' -r
complete -c relay -n '__relay_at serve' -l project-root -d 'Project root of sessions that name none' -r
complete -c relay -n '__relay_at serve' -l python-path -d 'Interpreter of sessions that name none' -r
complete -c relay -n '__relay_at serve' -l relay-id -d 'What this relay is called among several' -r
complete -c relay -n '__relay_at serve' -l max-sessions -d 'Sessions that may live at once' -r
complete -c relay -n '__relay_at serve' -l default-timeout-minutes -d 'Idle time after which a session ends' -r
complete -c relay -n '__relay_at serve' -l request-timeout-seconds -d 'Time limit of one question to a debuggee' -r
complete -c relay -n '__relay_at serve' -l launch-timeout-seconds -d 'Time limit from the start of a program to its first line' -r
complete -c relay -n '__relay_at serve' -l output-limit-bytes -d 'Output kept per session' -r
complete -c relay -n '__relay_at serve' -l event-limit -d 'Events kept per session' -r
complete -c relay -n '__relay_at serve' -l standby -d 'Debuggees that wait for the next launch of their kind' -r
complete -c relay -n '__relay_at serve' -l no-standby -d 'None'
complete -c relay -n '__relay_at serve' -l standby-minutes -d 'How long a debuggee waits for a launch before it is ended' -r
complete -c relay -n '__relay_at serve' -l exit-when-idle -d 'End after so long without a session and without a request' -r
complete -c relay -n '__relay_at serve' -l token -d 'Bearer token that every request must carry' -r
complete -c relay -n '__relay_at serve' -l allowed-host -d 'Host name to accept besides the loopback ones' -r
complete -c relay -n '__relay_at serve' -l allowed-root -d 'Directory below which scripts, sources, working directories and interpreters have to lie t' -r
complete -c relay -n '__relay_at serve' -l same-user-only -d 'Whether processes of other users of this machine are refused at a TCP port, root\'s excepte'
complete -c relay -n '__relay_at serve' -l no-same-user-only -d 'Whether processes of other users of this machine are refused at a TCP port, root\'s excepte'
complete -c relay -n '__relay_at serve' -l requests-per-second -d 'Requests that one client may send in a second over HTTP, and as many at once' -r
complete -c relay -n '__relay_at serve' -l redact-pattern -d 'Name whose values are masked, in place of the default ones' -r
complete -c relay -n '__relay_at serve' -l redact-credentials -d 'Whether keys, tokens and passwords are masked by their shapes as well, in values and in ou'
complete -c relay -n '__relay_at serve' -l no-redact-credentials -d 'Whether keys, tokens and passwords are masked by their shapes as well, in values and in ou'
complete -c relay -n '__relay_at serve' -l log-level -d 'What is logged to standard error' -x -a 'debug info warning error'
complete -c relay -n '__relay_at serve' -l log-format -d 'Lines of the log as text, or each a JSON object' -x -a 'text json'
complete -c relay -n '__relay_at serve' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at serve' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at sessions' -l url -d 'The server' -r
complete -c relay -n '__relay_at sessions' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at sessions' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at sessions' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at stack' -s s -d 'The session' -r
complete -c relay -n '__relay_at stack' -l session -d 'The session' -r
complete -c relay -n '__relay_at stack' -l url -d 'The server' -r
complete -c relay -n '__relay_at stack' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at stack' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at stack' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at start' -l url -d 'The server' -r
complete -c relay -n '__relay_at start' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at start' -s b -d 'Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called' -r
complete -c relay -n '__relay_at start' -l break -d 'Stop at FILE:LINE, or where FUNCTION or FILE:FUNCTION is called' -r
complete -c relay -n '__relay_at start' -l stop-on-entry -d 'Stop at the program\'s first line'
complete -c relay -n '__relay_at start' -l on-exception -d 'Stop where an exception that ends something is raised'
complete -c relay -n '__relay_at start' -l no-on-exception -d 'Stop where an exception that ends something is raised'
complete -c relay -n '__relay_at start' -l on-raise -d 'Stop at exceptions that are caught, too'
complete -c relay -n '__relay_at start' -s e -d 'Variable of the program, or one of this shell to pass on' -r
complete -c relay -n '__relay_at start' -l env -d 'Variable of the program, or one of this shell to pass on' -r
complete -c relay -n '__relay_at start' -l limit -d 'What the program may use' -r
complete -c relay -n '__relay_at start' -l record -d 'Keep a log, from the start, of who writes what EXPR names at PLACE (FILE:LINE or a functio' -r
complete -c relay -n '__relay_at start' -l children -d 'Debug the Python processes that it starts, too'
complete -c relay -n '__relay_at start' -l no-children -d 'Debug the Python processes that it starts, too'
complete -c relay -n '__relay_at start' -l python -d 'Interpreter of the program' -r
complete -c relay -n '__relay_at start' -l adapter -d 'Debugger of the program' -r
complete -c relay -n '__relay_at start' -l name -d 'Name of the session, for people' -r
complete -c relay -n '__relay_at start' -l wait -d 'How long to wait for the next stop, question or end' -r
complete -c relay -n '__relay_at start' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at start' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at stdio' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at stdio' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at step' -f
complete -c relay -n '__relay_at step' -a 'over' -d ''
complete -c relay -n '__relay_at step' -a 'into' -d ''
complete -c relay -n '__relay_at step' -a 'out' -d ''
complete -c relay -n '__relay_at step' -s s -d 'The session' -r
complete -c relay -n '__relay_at step' -l session -d 'The session' -r
complete -c relay -n '__relay_at step' -l url -d 'The server' -r
complete -c relay -n '__relay_at step' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at step' -l wait -d 'How long to wait for the next stop, question or end' -r
complete -c relay -n '__relay_at step' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at step' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at stop' -l url -d 'The server' -r
complete -c relay -n '__relay_at stop' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at stop' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at stop' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at trace' -s s -d 'The session' -r
complete -c relay -n '__relay_at trace' -l session -d 'The session' -r
complete -c relay -n '__relay_at trace' -l url -d 'The server' -r
complete -c relay -n '__relay_at trace' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at trace' -l wait -d 'How long to wait for the next stop, question or end' -r
complete -c relay -n '__relay_at trace' -l until-result -d 'Let calls go by until EXPR is true of one\'s result, exception or arguments' -r
complete -c relay -n '__relay_at trace' -l depth -d 'Levels of calls that a trace shows line by line' -r
complete -c relay -n '__relay_at trace' -l call -d 'The Nth such call' -r
complete -c relay -n '__relay_at trace' -l max-chars -d 'Bound of the text' -r
complete -c relay -n '__relay_at trace' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at trace' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at ui' -l url -d 'Of another server than the one that runs here' -r
complete -c relay -n '__relay_at ui' -l no-open -d 'Only print the address'
complete -c relay -n '__relay_at ui' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at ui' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at until' -s s -d 'The session' -r
complete -c relay -n '__relay_at until' -l session -d 'The session' -r
complete -c relay -n '__relay_at until' -l url -d 'The server' -r
complete -c relay -n '__relay_at until' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at until' -l wait -d 'How long to wait for the next stop, question or end' -r
complete -c relay -n '__relay_at until' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at until' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at watch' -s s -d 'The session' -r
complete -c relay -n '__relay_at watch' -l session -d 'The session' -r
complete -c relay -n '__relay_at watch' -l url -d 'The server' -r
complete -c relay -n '__relay_at watch' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at watch' -s f -d 'Frame of the stack, counted from the top' -r
complete -c relay -n '__relay_at watch' -l frame -d 'Frame of the stack, counted from the top' -r
complete -c relay -n '__relay_at watch' -l if -d 'Only at changes that make this true' -r
complete -c relay -n '__relay_at watch' -s d -d 'Delete this one' -r
complete -c relay -n '__relay_at watch' -l delete -d 'Delete this one' -r
complete -c relay -n '__relay_at watch' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at watch' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at where' -s s -d 'The session' -r
complete -c relay -n '__relay_at where' -l session -d 'The session' -r
complete -c relay -n '__relay_at where' -l url -d 'The server' -r
complete -c relay -n '__relay_at where' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at where' -l wait -d 'If it runs, wait so long for its next stop, question or end' -r
complete -c relay -n '__relay_at where' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at where' -l help -d 'Show this message and exit'
complete -c relay -n '__relay_at why' -s s -d 'The session' -r
complete -c relay -n '__relay_at why' -l session -d 'The session' -r
complete -c relay -n '__relay_at why' -l url -d 'The server' -r
complete -c relay -n '__relay_at why' -l json -d 'Print the API\'s data as JSON, for programs'
complete -c relay -n '__relay_at why' -s f -d 'Frame of the stack, counted from the top' -r
complete -c relay -n '__relay_at why' -l frame -d 'Frame of the stack, counted from the top' -r
complete -c relay -n '__relay_at why' -s n -d 'Writes to show, the newest first' -r
complete -c relay -n '__relay_at why' -l limit -d 'Writes to show, the newest first' -r
complete -c relay -n '__relay_at why' -l wait -d 'What the second run may take' -r
complete -c relay -n '__relay_at why' -s h -d 'Show this message and exit'
complete -c relay -n '__relay_at why' -l help -d 'Show this message and exit'
