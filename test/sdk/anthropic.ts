/** The @anthropic-ai/sdk client. */
import Anthropic from '@anthropic-ai/sdk';
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
import type { SdkClient, Target } from './conversation.ts';

const MAX_TOKENS = 1000;
const TOOLS: Anthropic.Tool[] = [
  { name: TOOL_NAME, description: TOOL_DESCRIPTION, input_schema: TOOL_SCHEMA },
];

const connect = ({ url, key }: Target): Anthropic =>
  new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });

/** A request with one user message of this content. */
function question({ model }: Target, content: Anthropic.MessageParam['content']) {
  return { model, max_tokens: MAX_TOKENS, messages: [{ role: 'user' as const, content }] };
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Sends the messages and returns the model's message. */
type Send = (messages: Anthropic.MessageParam[]) => Promise<Anthropic.Message>;

const QUESTION: Anthropic.MessageParam = { role: 'user', content: WEATHER_PROMPT };

/** Asks the question and returns the tool call of the answer. */
async function callOf(send: Send) {
  const { content, stop_reason } = await send([QUESTION]);
  const call = content.find((block) => block.type === 'tool_use');
  if (!call || stop_reason !== 'tool_use') throw new IncompleteAnswer('no tool was called');
  return { called: { name: call.name, input: call.input }, content, id: call.id };
}

/** Asks the question, answers the tool call, and returns the final text. */
async function toolTrip(send: Send) {
  const { called, content, id } = await callOf(send);
  const second = await send([
    QUESTION,
    { role: 'assistant', content: content as Anthropic.ContentBlockParam[] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: TOOL_RESULT }] },
  ]);
  return { ...called, text: textOf(second) };
}

function streamedSend(target: Target): Send {
  return (messages) =>
    connect(target)
      .messages.stream({ ...question(target, ''), messages, tools: TOOLS })
      .finalMessage();
}

export const anthropic: SdkClient = {
  name: '@anthropic-ai/sdk',
  whole: async (target) => textOf(await connect(target).messages.create(question(target, PLAIN_PROMPT))),
  streamed: async (target) => {
    const stream = await connect(target).messages.create({ ...question(target, PLAIN_PROMPT), stream: true });
    const answer = { text: '', pieces: 0, finish: '' };
    for await (const event of stream) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
        answer.text += event.delta.text;
        answer.pieces += 1;
      }
      if (event.type === 'message_delta') answer.finish = event.delta.stop_reason ?? '';
    }
    return answer;
  },
  toolTrip: (target) =>
    toolTrip((messages) =>
      connect(target).messages.create({ ...question(target, ''), messages, tools: TOOLS }),
    ),
  streamedCall: async (target) => (await callOf(streamedSend(target))).called,
  streamedToolTrip: (target) => toolTrip(streamedSend(target)),
  vision: async (target) => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PICTURE };
    const content = [
      { type: 'image' as const, source },
      { type: 'text' as const, text: PICTURE_PROMPT },
    ];
    return textOf(await connect(target).messages.create(question(target, content)));
  },
  structured: async (target) => {
    const answer = await connect(target).messages.create({
      ...question(target, CITY_PROMPT),
      output_config: { format: { type: 'json_schema', schema: CITY_SCHEMA } },
    });
    return JSON.parse(textOf(answer)) as unknown;
  },
};
