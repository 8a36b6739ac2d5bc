# mypy: ignore-errors
# It runs where the SDK 1.x is installed, whose names are not those of 2.x.
"""A debugging by a client of the first generation of the official SDK, as users have written it.

`stdio COMMAND…` or `http URL`; what it was answered is printed as one JSON object.
"""

import json
import sys
from importlib.metadata import version

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl


async def debug(session):
    told = await session.initialize()
    found = {"sdk": version("mcp"), "protocol": told.protocolVersion}
    found["server"] = told.serverInfo.name
    found["tools"] = [tool.name for tool in (await session.list_tools()).tools]
    progress = []

    async def note(passed, total, message):
        progress.append(message)

    async def call(name, **arguments):
        answer = await session.call_tool(name, arguments)
        return {"error": answer.isError, "text": answer.content[0].text}

    run = {"script": "main.py", "breakpoints": ["double"]}
    ran = await session.call_tool("debug_run", run, progress_callback=note)
    found["run"] = ran.content[0].text
    found["progress"] = progress
    found["value"] = await call("debug_eval", expression="number * 3")
    found["mistake"] = await call("debug_eval", expression="number *")
    found["tool"] = await call("debug_look")
    uri = (await session.list_resources()).resources[0].uri
    found["report"] = (await session.read_resource(uri)).contents[0].text
    found["prompt"] = (await session.get_prompt("hang", {"pid": "7"})).messages[0].content.text
    try:
        await session.read_resource(AnyUrl("debug://sessions/sess_0/report"))
    except McpError as error:
        found["no resource"] = error.error.code
    await call("debug_breakpoints", remove=["all"])
    await call("debug_continue", wait=0)
    await cancel_a_wait(session)
    found["paused"] = await call("debug_continue", action="pause")
    found["ended"] = await call("debug_end")
    return found


async def cancel_a_wait(session):
    """As it is done there: the notification is sent by hand, and nobody waits for an answer."""
    waits = anyio.Event()

    async def note(passed, total, message):
        waits.set()

    async def wait():
        arguments = {"action": "wait", "wait": 300}
        await session.call_tool("debug_continue", arguments, progress_callback=note)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await waits.wait()
        params = types.CancelledNotificationParams(requestId=session._request_id - 1)
        cancelled = types.CancelledNotification(method="notifications/cancelled", params=params)
        await session.send_notification(types.ClientNotification(cancelled))
        tasks.cancel_scope.cancel()


async def main(transport, *target):
    if transport == "stdio":
        server = StdioServerParameters(command=target[0], args=list(target[1:]))
        streams = stdio_client(server)
    else:
        streams = streamablehttp_client(*target)
    async with streams as (read, write, *_), ClientSession(read, write) as session:
        print(json.dumps(await debug(session)))


anyio.run(main, *sys.argv[1:])
