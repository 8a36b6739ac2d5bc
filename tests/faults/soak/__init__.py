"""An hour of a relay's life: users by lot on every face, with faults: `python -m tests.faults.soak`.

- `programs`: programs by lot
- `visit`: one user from coming to leaving, and what was wrong meanwhile
- `requests_user`: over HTTP, with long-polls and streams beside it
- `other_users`: MCP, the session commands, the line protocol, an editor, a program that embeds the relay
- `faces`: the table of them, and how often each comes
- `hasty_relay`: the relay that they use, whose minutes of patience are seconds
- `crowd`: users side by side, in rounds; between two the relay is at rest, and looked at
- `trend`: whether a row of figures rises
"""
