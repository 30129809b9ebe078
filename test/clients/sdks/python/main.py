"""Asks a gateway through an official SDK: a whole answer, a stream and a tool call."""

import json
import os
import sys

URL, KEY, MODEL = os.environ["SDK_URL"], os.environ["SDK_KEY"], os.environ["SDK_MODEL"]
PROMPT, TOOL, TOOL_PROMPT = os.environ["SDK_PROMPT"], os.environ["SDK_TOOL"], os.environ["SDK_TOOL_PROMPT"]
SCHEMA = {"type": "object", "properties": {"cmd": {"type": "string"}}}


def ask_chat():
    from openai import OpenAI

    chat = OpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0).chat.completions
    ask = lambda prompt, **more: chat.create(
        model=MODEL, messages=[{"role": "user", "content": prompt}], **more
    )
    print("whole", ask(PROMPT).choices[0].message.content)
    chunks = ask(PROMPT, stream=True)
    print("stream", "".join(c.delta.content or "" for chunk in chunks for c in chunk.choices))
    tools = [{"type": "function", "function": {"name": TOOL, "parameters": SCHEMA}}]
    for call in ask(TOOL_PROMPT, tools=tools).choices[0].message.tool_calls or []:
        print("tool", call.function.name, call.function.arguments)


def ask_responses():
    from openai import OpenAI

    responses = OpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0).responses
    print("whole", responses.create(model=MODEL, input=PROMPT).output_text)
    events = responses.create(model=MODEL, input=PROMPT, stream=True)
    print("stream", "".join(e.delta for e in events if e.type == "response.output_text.delta"))
    tools = [{"type": "function", "name": TOOL, "parameters": SCHEMA, "strict": False}]
    for item in responses.create(model=MODEL, input=TOOL_PROMPT, tools=tools).output:
        if item.type == "function_call":
            print("tool", item.name, item.arguments)


def ask_messages():
    from anthropic import Anthropic

    messages = Anthropic(base_url=URL, api_key=KEY, max_retries=0).messages
    given = lambda prompt: {
        "model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": prompt}]
    }
    whole = messages.create(**given(PROMPT))
    print("whole", "".join(block.text for block in whole.content if block.type == "text"))
    with messages.stream(**given(PROMPT)) as stream:
        print("stream", "".join(stream.text_stream))
    tools = [{"name": TOOL, "input_schema": SCHEMA}]
    for block in messages.create(**given(TOOL_PROMPT), tools=tools).content:
        if block.type == "tool_use":
            print("tool", block.name, json.dumps(block.input))


def ask_genai():
    from google import genai

    client = genai.Client(api_key=KEY, http_options={"base_url": URL})
    models = client.models
    print("whole", models.generate_content(model=MODEL, contents=PROMPT).text)
    chunks = models.generate_content_stream(model=MODEL, contents=PROMPT)
    print("stream", "".join(chunk.text or "" for chunk in chunks))
    declaration = {"name": TOOL, "parameters_json_schema": SCHEMA}
    config = {"tools": [{"function_declarations": [declaration]}]}
    answer = models.generate_content(model=MODEL, contents=TOOL_PROMPT, config=config)
    for call in answer.function_calls or []:
        print("tool", call.name, json.dumps(call.args))


{"chat": ask_chat, "responses": ask_responses, "messages": ask_messages, "genai": ask_genai}[sys.argv[1]]()
