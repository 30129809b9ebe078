/** The @anthropic-ai/sdk client. */
import Anthropic from '@anthropic-ai/sdk';
import {
  CITY_PROMPT,
  CITY_SCHEMA,
  PICTURE,
  PICTURE_PROMPT,
  PLAIN_PROMPT,
  ShortSuccess,
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

/** What an ordinary question with this content looks like. */
function question({ model }: Target, content: Anthropic.MessageParam['content']) {
  return { model, max_tokens: MAX_TOKENS, messages: [{ role: 'user' as const, content }] };
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Sends the messages and returns the model's own. */
type Turn = (messages: Anthropic.MessageParam[]) => Promise<Anthropic.Message>;

const QUESTION: Anthropic.MessageParam = { role: 'user', content: WEATHER_PROMPT };

async function callOf(turn: Turn) {
  const { content, stop_reason } = await turn([QUESTION]);
  const call = content.find((block) => block.type === 'tool_use');
  if (!call || stop_reason !== 'tool_use') throw new ShortSuccess('no tool was called');
  return { called: { name: call.name, input: call.input }, content, id: call.id };
}

async function trip(turn: Turn) {
  const { called, content, id } = await callOf(turn);
  const second = await turn([
    QUESTION,
    { role: 'assistant', content: content as Anthropic.ContentBlockParam[] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: TOOL_RESULT }] },
  ]);
  return { ...called, text: textOf(second) };
}

function streamedTurn(target: Target): Turn {
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
    const seen = { text: '', pieces: 0, finish: '' };
    for await (const event of stream) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
        seen.text += event.delta.text;
        seen.pieces += 1;
      }
      if (event.type === 'message_delta') seen.finish = event.delta.stop_reason ?? '';
    }
    return seen;
  },
  toolTrip: (target) =>
    trip((messages) => connect(target).messages.create({ ...question(target, ''), messages, tools: TOOLS })),
  streamedCall: async (target) => (await callOf(streamedTurn(target))).called,
  streamedToolTrip: (target) => trip(streamedTurn(target)),
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
