#!/usr/bin/env bash
# pytest under the relay; each report goes to the log and into the job's summary. Exits as pytest does.
set -euo pipefail

relay=$RELAY_ACTION_RELAY
if [ -z "$relay" ]; then
    # Apart from the tests: what they import is theirs to choose.
    venv="$RUNNER_TEMP/debug-relay"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$RELAY_ACTION_REQUIREMENT"
    relay="$venv/bin/relay"
fi

# As a shell reads them, quotes and all; nothing of it is run.
mapfile -d '' -t args < <(python3 -c '
import os, shlex
for word in shlex.split(os.environ["RELAY_ACTION_ARGS"]):
    print(word, end="\0")')

python=$(command -v "$RELAY_ACTION_PYTHON")
reports=$(mktemp)
trap 'rm -f "$reports"' EXIT
status=0
{
    "$relay" run --on-exception --reports "$RELAY_ACTION_REPORTS" \
        --max-chars "$RELAY_ACTION_MAX_CHARS" --python "$python" \
        -- -m pytest "${args[@]}" 2>&1 >&3 | tee "$reports" >&2
} 3>&1 || status=$?

# GitHub takes 1 MiB of a step. What is in the block are values of the program, which end it nowhere.
{
    echo "### Tests under the relay: exit code $status"
    echo
    echo '``````````text'
    head -c 900000 "$reports" | sed 's/``````````*/…/g'
    echo
    echo '``````````'
} >>"$GITHUB_STEP_SUMMARY"
exit "$status"
