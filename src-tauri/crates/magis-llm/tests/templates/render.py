"""Renders the conversations with each template as `apply_chat_template` does, for the tests of our own rendering.

    python3 render.py FOLDER...

Writes FOLDER/rendered/TEMPLATE/CONVERSATION.txt; none where a template refuses a conversation. Needs jinja2.
"""

import datetime
import json
import pathlib
import sys

import jinja2.ext
import jinja2.nodes
import jinja2.sandbox

HERE = pathlib.Path(__file__).parent


class Tracking(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Tracking, jinja2.ext.loopcontrols]
    )
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = datetime.datetime(2025, 1, 1).strftime
    return made


def turn(message, names, as_text):
    made = {"role": message["role"], "content": message["content"]}
    if "thinking" in message:
        made |= dict.fromkeys(["reasoning_content", "thinking", "reasoning"], message["thinking"])
    if "tool_calls" in message:
        made["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": tojson(call["arguments"]) if as_text else call["arguments"]},
            }
            for call in message["tool_calls"]
        ]
    if message["role"] == "tool":
        made |= {"tool_call_id": message["result_of"], "name": names[message["result_of"]]}
    return made


def render(source, conversation, tools):
    names = {call["id"]: call["name"] for message in conversation["messages"] for call in message.get("tool_calls", [])}
    thinks = conversation.get("thinking", "off") != "off"
    variables = {"enable_thinking": thinks, "thinking": thinks}
    if "<|channel|>" in source and not thinks:
        variables["reasoning_effort"] = "low"
    for as_text in [False, True]:
        try:
            return environment().from_string(source).render(
                messages=[turn(message, names, as_text) for message in conversation["messages"]],
                tools=[{"type": "function", "function": tool} for tool in tools] if conversation.get("tools") else None,
                documents=None,
                add_generation_prompt=True,
                bos_token="<s>",
                eos_token="</s>",
                **variables,
            )
        except (jinja2.exceptions.TemplateError, TypeError):
            pass


def main():
    tools = json.loads((HERE / "tools.json").read_text())
    conversations = json.loads((HERE / "conversations.json").read_text())
    for folder in map(pathlib.Path, sys.argv[1:]):
        for template in sorted(folder.glob("*.jinja")):
            out = folder / "rendered" / template.stem
            out.mkdir(parents=True, exist_ok=True)
            for name, conversation in conversations.items():
                rendered = render(template.read_text(), conversation, tools)
                if rendered is not None:
                    (out / f"{name}.txt").write_text(rendered, newline="")


main()
