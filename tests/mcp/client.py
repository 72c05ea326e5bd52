"""The official Python SDK as a client of `polyloop mcp`.

client.py POLYLOOP INPUT STREAM: INPUT is served, STREAM is its canonical stream.
"""

import asyncio
import importlib.metadata
import json
import sys

from mcp import Client, MCPError, StdioServerParameters

POLYLOOP, INPUT, STREAM = sys.argv[1:]
LIMIT = "4096"
NAMES = ["current", "search", "slice", "summarize", "state"]


def data(result):
    """What a call gives: the SDK has held it against the output schema."""
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def pages(client, tool, arguments):
    """All results of a call."""
    results = [data(await client.call_tool(tool, arguments))]
    while "next_cursor" in results[-1]:
        results.append(data(await client.call_tool(tool, {**arguments, "cursor": results[-1]["next_cursor"]})))
    return results


def lines_of(results):
    """The lines of the canonical stream that messages in whole and in parts stand for."""
    lines, text = [], ""
    for message in (message for result in results for message in result["messages"]):
        part = message.get("part")
        if part is None:
            content = message["content"]
        else:
            assert part["chars"] == [len(text), len(text) + len(part["text"])], part["chars"]
            text += part["text"]
            if len(text) < part["total_chars"]:
                continue
            content = [{"type": "text", "text": text}] if part["of"] == "text" else json.loads(text)["content"]
            text = ""
        assert message["index"] == len(lines)
        lines.append({"role": message["role"], "content": content})
    return lines


async def read(client, uri):
    """A resource, in as many parts as it takes."""
    text, parts = "", 0
    while True:
        (content,) = (await client.read_resource(uri)).contents
        text, parts = text + content.text, parts + 1
        uri = (content.meta or {}).get("polyloop/next")
        if uri is None:
            return text, parts


async def refused(call):
    """The code of the error that a request comes to."""
    try:
        answer = await call
    except MCPError as error:
        return error.code
    raise AssertionError(f"it was answered: {answer}")


async def speak(mode):
    with open(STREAM, encoding="utf-8", newline="\n") as file:
        stream = file.read().splitlines(keepends=False)
    # A line that is no JSON comes before all that the client sends.
    script = '{ echo "{ no json"; cat; } | exec "$0" mcp "$1" --max-result-bytes "$2"'
    server = StdioServerParameters(command="sh", args=["-c", script, POLYLOOP, INPUT, LIMIT])
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        assert client.server_info.name == "polyloop"

        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES
        assert all(tool.annotations.read_only_hint for tool in tools)

        results = await pages(client, "current", {})
        assert len(results) > 10, len(results)
        assert all(len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode()) <= 4096 for result in results)
        assert lines_of(results) == [json.loads(line) for line in stream]
        assert "runtime_state" in results[-1]

        last = data(await client.call_tool("slice", {"start": -1}))
        assert last["messages"][0]["index"] == len(stream) - 1
        found = data(await client.call_tool("search", {"query": "needle", "limit": 3}))
        assert found["total"] == 1, found
        counted = data(await client.call_tool("summarize"))
        assert counted["total_messages"] == len(stream)
        state = data(await client.call_tool("state", {}))
        assert state["runtime_state"] == results[-1]["runtime_state"]

        listed, cursor = [], None
        while True:
            answer = await client.list_resources(cursor=cursor)
            listed += answer.resources
            cursor = answer.next_cursor
            if cursor is None:
                break
        assert len(listed) == len(stream)
        read_in_parts = 0
        for resource, line in zip(listed, stream, strict=True):
            text, parts = await read(client, str(resource.uri))
            assert text == line, resource.uri
            read_in_parts += parts > 1
        assert read_in_parts > 0
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 2

        for tool, arguments in [
            ("slice", {"start": "first"}),
            ("slice", {"cursor": "1.2.3.4"}),
            ("search", {}),
            ("search", {"query": "x", "limit": 1000}),
            ("current", {"nonsense": {"a": [1]}}),
        ]:
            result = await client.call_tool(tool, arguments)
            assert result.is_error and result.structured_content is None, (tool, arguments)
        assert await refused(client.call_tool("remove", {})) == -32602
        assert await refused(client.call_tool("search", {"query": "x" * (2 << 20)})) == -32600
        not_found = -32602 if client.protocol_version >= "2026-07-28" else -32002
        assert await refused(client.read_resource("context:///messages/99999")) == not_found

        counted = data(await client.call_tool("summarize"))
        assert counted["total_messages"] == len(stream)
        version = importlib.metadata.version("mcp")
        print(
            f"mcp {version}, protocol {client.protocol_version}: {len(tools)} tools, {len(results)} results of current, "
            f"{len(listed)} resources ({read_in_parts} in parts), the server lives"
        )


for mode in ["auto", "legacy"]:
    asyncio.run(speak(mode))
