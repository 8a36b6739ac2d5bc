#!/bin/bash
# Multi-file debugging example

BASE_URL="http://localhost:5679/api/v1"

# Create session with project root
SESSION_ID=$(curl -s -X POST "$BASE_URL/sessions" \
  -H "Content-Type: application/json" \
  -d '{
    "name": "multifile-debug",
    "project_root": "/Users/dev/myproject"
  }' | jq -r '.data.session_id')

# Set breakpoints in multiple files
curl -s -X POST "$BASE_URL/sessions/$SESSION_ID/breakpoints" \
  -H "Content-Type: application/json" \
  -d '{
    "breakpoints": [
      {
        "source": {"path": "/Users/dev/myproject/main.py"},
        "line": 15
      },
      {
        "source": {"path": "/Users/dev/myproject/utils/helpers.py"},
        "line": 42
      },
      {
        "source": {"path": "/Users/dev/myproject/models/data.py"},
        "line": 78
      }
    ]
  }'

# Launch main entry point
curl -s -X POST "$BASE_URL/sessions/$SESSION_ID/launch" \
  -H "Content-Type: application/json" \
  -d '{
    "script": "/Users/dev/myproject/main.py",
    "cwd": "/Users/dev/myproject"
  }'

# When paused, stack trace will show frames from multiple files
echo "=== Multi-file stack trace ==="
curl -s "$BASE_URL/sessions/$SESSION_ID/stacktrace?levels=20" | jq '.data.frames[] | {name, file: .source.path, line}'

# Step into a function call (will go to different file)
curl -s -X POST "$BASE_URL/sessions/$SESSION_ID/step-into"

# Check new location (should be in different file)
curl -s "$BASE_URL/sessions/$SESSION_ID" | jq '.data.current_location'

# Continue to next breakpoint (in yet another file)
curl -s -X POST "$BASE_URL/sessions/$SESSION_ID/continue"
