# eval "$(relay completion bash)"
_relay_commands() {
    case "$1" in
    '') printf '%s\n' adapters agent attach break completion continue dap demo diff doctor end eval ez hang input locals mcp output pause perl-adapter restart run serve sessions stack start stdio step stop trace ui until watch where why ;;
    adapters) printf '%s\n' add list remove ;;
    'adapters add') printf '%s\n' lldb dlv rdbg gdb codelldb js-debug ;;
    agent) printf '%s\n' hook install ;;
    completion) printf '%s\n' bash fish zsh ;;
    ez) printf '%s\n' debugserver version ;;
    step) printf '%s\n' over into out ;;
    esac
}
_relay_options() {
    case "$1" in
    '') printf '%s\n' --version -h --help ;;
    adapters) printf '%s\n' -h --help ;;
    'adapters add') printf '%s\n' --as --executable --dry-run --state-dir -h --help ;;
    'adapters list') printf '%s\n' --json --state-dir -h --help ;;
    'adapters remove') printf '%s\n' --dry-run --state-dir -h --help ;;
    agent) printf '%s\n' -h --help ;;
    'agent hook') printf '%s\n' -h --help ;;
    'agent install') printf '%s\n' --client --dry-run --uninstall --project --name --state-dir -h --help ;;
    attach) printf '%s\n' --url --json -b --break --adapter --connect-timeout --wait -h --help ;;
    break) printf '%s\n' -s --session --url --json -d --delete --log --hits -h --help ;;
    completion) printf '%s\n' -h --help ;;
    continue) printf '%s\n' -s --session --url --json --wait -h --help ;;
    dap) printf '%s\n' -s --session --read-only --listen --url -h --help ;;
    demo) printf '%s\n' --keep-program -h --help ;;
    diff) printf '%s\n' --rev --focus --timeout --python -h --help ;;
    doctor) printf '%s\n' --report --json -h --help ;;
    end) printf '%s\n' -s --session --url --json --all --detach -h --help ;;
    eval) printf '%s\n' -s --session --url --json -f --frame -h --help ;;
    ez) printf '%s\n' -h --help ;;
    'ez debugserver') printf '%s\n' -h --help ;;
    'ez version') printf '%s\n' -h --help ;;
    hang) printf '%s\n' -s --session --url --json --pid --connect-timeout --reveal -h --help ;;
    input) printf '%s\n' -s --session --url --json --eof -n --no-newline --wait -h --help ;;
    locals) printf '%s\n' -s --session --url --json -f --frame -h --help ;;
    mcp) printf '%s\n' --tools --project-root --python-path --max-sessions --state-dir --log-level --log-format -h --help ;;
    output) printf '%s\n' -s --session --url --json --only -f --follow -h --help ;;
    pause) printf '%s\n' -s --session --url --json --wait -h --help ;;
    perl-adapter) printf '%s\n' --library --no-seccomp -h --help ;;
    restart) printf '%s\n' -s --session --url --json --wait -h --help ;;
    run) printf '%s\n' -b --break --log --capture --watch --eval --why --record --calls --on-exception --trace --until-result --depth --reports --until --timeout --json --max-chars --python --adapter --stdin --children --no-children -h --help ;;
    serve) printf '%s\n' --host --port --uds --state-dir --project-root --python-path --relay-id --max-sessions --default-timeout-minutes --request-timeout-seconds --launch-timeout-seconds --output-limit-bytes --event-limit --standby --no-standby --standby-minutes --exit-when-idle --token --allowed-host --allowed-root --same-user-only --no-same-user-only --requests-per-second --redact-pattern --redact-credentials --no-redact-credentials --log-level --log-format -h --help ;;
    sessions) printf '%s\n' --url --json -h --help ;;
    stack) printf '%s\n' -s --session --url --json -h --help ;;
    start) printf '%s\n' --url --json -b --break --stop-on-entry --on-exception --no-on-exception --on-raise -e --env --limit --record --children --no-children --python --adapter --name --wait -h --help ;;
    stdio) printf '%s\n' -h --help ;;
    step) printf '%s\n' -s --session --url --json --wait -h --help ;;
    stop) printf '%s\n' --url --json -h --help ;;
    trace) printf '%s\n' -s --session --url --json --wait --until-result --depth --call --max-chars -h --help ;;
    ui) printf '%s\n' --url --no-open -h --help ;;
    until) printf '%s\n' -s --session --url --json --wait -h --help ;;
    watch) printf '%s\n' -s --session --url --json -f --frame --if -d --delete -h --help ;;
    where) printf '%s\n' -s --session --url --json --wait -h --help ;;
    why) printf '%s\n' -s --session --url --json -f --frame -n --limit --wait -h --help ;;
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
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} key="" word i found
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        [ "$word" = -- ] && return
        _relay_is_command "${key:+$key }$word" && key=${key:+$key }$word
    done
    if ! found=$(_relay_values "$key $prev"); then
        case "$cur" in
        -*) found=$(_relay_options "$key") ;;
        *) found=$(_relay_commands "$key") ;;
        esac
    fi
    [ -z "$found" ] || COMPREPLY=($(compgen -W "$found" -- "$cur"))
}
complete -o bashdefault -o default -F _relay relay
