"""The official client of the Model Context Protocol, on standard input and output and over HTTP."""

import asyncio

import pytest
from mcp import Client, StdioServerParameters

QUESTION = '?G : exists F. stars(F, "Martin Lawrence") and has_genre(F, G)'


@pytest.fixture(params=["stdio", "http", "http-legacy"])
def client(request, relatum, project, server):
    """A client that is not connected yet."""
    if request.param == "stdio":
        return Client(StdioServerParameters(command=relatum, args=["mcp", project]))
    mode = "legacy" if request.param == "http-legacy" else "auto"
    return Client(f"{server}/mcp", mode=mode)


def run(client, work):
    async def connected():
        async with client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(connected(), timeout=120))


def test_tools_teach_the_language(client):
    tools = {tool.name: tool for tool in run(client, lambda it: it.list_tools()).tools}
    assert set(tools) == {"ask", "explain", "find", "describe", "relations", "plan"}
    assert "exists F. stars(F" in tools["ask"].description
    assert tools["ask"].input_schema["required"] == ["question"]
    assert "t_norm" in tools["ask"].input_schema["properties"]


def test_an_answer_carries_the_explanation_to_cite(client):
    answered = run(client, lambda it: it.call_tool("ask", {"question": QUESTION, "top": 2}))
    assert not answered.is_error
    assert "stars(" in answered.content[0].text and "known" in answered.content[0].text
    reply = answered.structured_content
    assert reply["shape"] == "2p" and len(reply["answers"]) == 2
    assert reply["answers"][0]["explanation"]["atoms"]


def test_a_wrong_question_is_right_at_the_second_try(client):
    wrong = '?G : exists F. stars(F, "Martin Lawrense") and has_gnre(F, G)'

    async def twice(it):
        first = await it.call_tool("ask", {"question": wrong})
        assert first.is_error
        assert "has_genre" in first.content[0].text and "Martin Lawrence" in first.content[0].text
        mended = wrong
        # From the last place to the first, so that the earlier ones stay where they are.
        mistakes = first.structured_content["diagnostics"]
        changes = [mistake["suggestions"][0] for mistake in mistakes]
        for change in sorted(changes, key=lambda it: -it["span"]["start"]["byte"]):
            start, end = change["span"]["start"]["byte"], change["span"]["end"]["byte"]
            mended = mended[:start] + change["replacement"] + mended[end:]
        assert mended == QUESTION
        return await it.call_tool("ask", {"question": mended})

    assert not run(client, twice).is_error


def test_the_other_tools_do_what_they_say(client):
    async def all_of_them(it):
        relations = await it.call_tool("relations", {})
        assert "has_genre" in relations.content[0].text and "such as" in relations.content[0].text
        found = await it.call_tool("find", {"text": "lawrence", "limit": 3})
        assert "Lawrence" in found.content[0].text
        described = await it.call_tool("describe", {"name": "Martin Lawrence", "limit": 2, "predicted": True})
        assert "stars" in described.content[0].text and described.structured_content["predicted"]
        plan = await it.call_tool("plan", {"question": QUESTION})
        assert plan.structured_content["shape"] == "2p"
        explained = await it.call_tool("explain", {"question": QUESTION, "entity": "Comedy"})
        assert explained.structured_content["answers"][0]["name"] == "Comedy"
        unknown = await it.call_tool("describe", {"name": "Nobody at all"})
        assert unknown.is_error
        misfit = await it.call_tool("find", {"txt": "lawrence"})
        assert misfit.is_error and "txt" in misfit.content[0].text

    run(client, all_of_them)
