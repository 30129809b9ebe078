/** The ai package with each provider package that speaks one of the gateway's formats. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Output, generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import type { LanguageModel } from 'ai';
import {
  CITY_PROMPT,
  CITY_SCHEMA,
  IncompleteAnswer,
  PICTURE,
  PICTURE_PROMPT,
  PLAIN_PROMPT,
  TOOL_DESCRIPTION,
  TOOL_NAME,
  TOOL_RESULT,
  TOOL_SCHEMA,
  WEATHER_PROMPT,
} from './conversation.ts';
import type { SdkClient, Target, ToolCall } from './conversation.ts';

/** `store: false` makes the SDK send earlier answers back instead of referring to them. */
const BASE = { maxRetries: 0, maxOutputTokens: 1000, providerOptions: { openai: { store: false } } };

/** The weather tool, which records its calls. */
function weather(calls: { name: string; input: unknown }[]) {
  return {
    [TOOL_NAME]: tool({
      description: TOOL_DESCRIPTION,
      inputSchema: jsonSchema<{ city: string }>(TOOL_SCHEMA),
      execute: (input) => {
        calls.push({ name: TOOL_NAME, input });
        return TOOL_RESULT;
      },
    }),
  };
}

/** A stream of the ai package, as far as it is read here. */
type Parts = AsyncIterable<{ type: string; [key: string]: unknown }>;

/** Reads a streamed text. Throws the error of an error part: the ai package does not reject. */
async function readText({ stream }: { stream: Parts }) {
  const answer = { text: '', pieces: 0, finish: '' };
  for await (const part of stream) {
    if (part.type === 'error') throw part['error'];
    if (part.type === 'text-delta') {
      answer.text += String(part['text']);
      answer.pieces += 1;
    }
    if (part.type === 'finish') answer.finish = String(part['finishReason']);
  }
  return answer;
}

/** Reads the tool call of a stream. */
async function readCall({ stream }: { stream: Parts }): Promise<ToolCall> {
  let called: ToolCall | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw part['error'];
    if (part.type === 'tool-call') called = { name: String(part['toolName']), input: part['input'] };
  }
  if (!called) throw new IncompleteAnswer('no tool was called');
  return called;
}

function client(name: string, connect: (target: Target) => LanguageModel): SdkClient {
  const prepareToolTrip = (target: Target) => {
    const calls: { name: string; input: unknown }[] = [];
    const options = {
      ...BASE,
      model: connect(target),
      prompt: WEATHER_PROMPT,
      tools: weather(calls),
      stopWhen: isStepCount(3),
    };
    const outcome = (text: string) => ({ ...(calls[0] ?? { name: '', input: undefined }), text });
    return { options, outcome };
  };
  return {
    name,
    whole: async (target) =>
      (await generateText({ ...BASE, model: connect(target), prompt: PLAIN_PROMPT })).text,
    streamed: (target) =>
      readText(
        streamText({ ...BASE, model: connect(target), prompt: PLAIN_PROMPT, onError: () => undefined }),
      ),
    toolTrip: async (target) => {
      const { options, outcome } = prepareToolTrip(target);
      return outcome((await generateText(options)).text);
    },
    streamedCall: (target) => {
      const { options } = prepareToolTrip(target);
      return readCall(streamText({ ...options, stopWhen: isStepCount(1), onError: () => undefined }));
    },
    streamedToolTrip: async (target) => {
      const { options, outcome } = prepareToolTrip(target);
      return outcome((await readText(streamText({ ...options, onError: () => undefined }))).text);
    },
    vision: async (target) => {
      const image = { type: 'file' as const, data: PICTURE, mediaType: 'image/png' };
      const text = { type: 'text' as const, text: PICTURE_PROMPT };
      const messages = [{ role: 'user' as const, content: [text, image] }];
      return (await generateText({ ...BASE, model: connect(target), messages })).text;
    },
    structured: async (target) => {
      const output = Output.object({ schema: jsonSchema<{ city: string }>(CITY_SCHEMA) });
      return (await generateText({ ...BASE, model: connect(target), prompt: CITY_PROMPT, output })).output;
    },
  };
}

const openai = ({ url, key }: Target) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key });

export const AI_CLIENTS: readonly SdkClient[] = [
  client('ai with openai (responses)', (target) => openai(target)(target.model)),
  client('ai with openai (chat)', (target) => openai(target).chat(target.model)),
  client('ai with openai-compatible', ({ url, key, model }) =>
    createOpenAICompatible({
      name: 'gateway',
      baseURL: `${url}/v1`,
      apiKey: key,
      supportsStructuredOutputs: true,
    })(model),
  ),
  client('ai with anthropic', ({ url, key, model }) =>
    createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(model),
  ),
  client('ai with google', ({ url, key, model }) =>
    createGoogle({ baseURL: `${url}/v1beta`, apiKey: key })(model),
  ),
];
