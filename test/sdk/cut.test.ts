/**
 * A stream that breaks off after any of its events is an error in every SDK, never a short success, and costs
 * nothing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode } from '../request-path.ts';
import type { TestNode } from '../request-path.ts';
import { startUpstream } from '../upstream.ts';
import type { FakeUpstream, Play } from '../upstream.ts';
import { AI_CLIENTS } from './ai.ts';
import { anthropic } from './anthropic.ts';
import { PLAIN_PROMPT, ShortSuccess, TEXT, TOOL_INPUT, TOOL_NAME, WEATHER_PROMPT } from './conversation.ts';
import type { SdkClient, Target } from './conversation.ts';
import { google } from './google.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import { GENERATIVE_MODEL, startSpeakingUpstream } from './upstream.ts';

/** Of the ai package, one provider for each format that a stream of its own reads. */
const AI_READERS = /responses|anthropic|google/;
const FURTHER = AI_CLIENTS.filter(({ name }) => AI_READERS.test(name));
const CLIENTS = [openaiChat, openaiResponses, anthropic, google, ...FURTHER];
const PIECE_LENGTH = 40;
const MODEL = 'swift';
/** Time for what was sent to reach the client before the break, in ms. */
const PASSED_MS = 2;
/** Says nothing in any format. */
const COMMENT = ': \n\n';

interface CutFormat {
  dialect: 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'google-generate';
  path: string;
  ask(prompt: string): object;
  /** With this event the answer is whole, even where the connection breaks right after it. */
  end: RegExp | undefined;
  /** With this event the answer is whole where the connection then ends in order. */
  finish: RegExp;
  /** The upstream's own word that it failed. */
  failure: string;
}

const messages = (prompt: string) => [{ role: 'user', content: prompt }];
const OVERLOADED = { message: 'Overloaded', type: 'overloaded_error', code: 'server_error' };

const FORMATS: CutFormat[] = [
  {
    dialect: 'openai-chat',
    path: '/v1/chat/completions',
    ask: (prompt) => ({ model: MODEL, stream: true, messages: messages(prompt) }),
    end: /\[DONE\]/,
    finish: /"finish_reason":"/,
    failure: `data: ${JSON.stringify({ error: OVERLOADED })}\n\n`,
  },
  {
    dialect: 'openai-responses',
    path: '/v1/responses',
    ask: (prompt) => ({ model: MODEL, stream: true, input: prompt }),
    end: /response\.completed/,
    finish: /response\.completed/,
    failure: `event: error\ndata: ${JSON.stringify({ ...OVERLOADED, type: 'error' })}\n\n`,
  },
  {
    dialect: 'anthropic-messages',
    path: '/v1/messages',
    ask: (prompt) => ({ model: MODEL, stream: true, max_tokens: 100, messages: messages(prompt) }),
    end: /message_stop/,
    finish: /message_stop/,
    failure: `event: error\ndata: ${JSON.stringify({ type: 'error', error: OVERLOADED })}\n\n`,
  },
  {
    dialect: 'google-generate',
    path: `/v1beta/models/${GENERATIVE_MODEL}:streamGenerateContent?alt=sse`,
    ask: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
    end: undefined,
    finish: /"finishReason":"/,
    failure: 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\n\n',
  },
];

const WAYS = ['the body ends in order', 'the connection breaks', 'the upstream says that it failed'] as const;

let upstream: FakeUpstream;
let node: TestNode;
const streams = new Map<string, string[]>();
const streamOf = ({ dialect }: CutFormat, prompt: string): string[] =>
  streams.get(`${dialect} ${prompt}`) ?? [];

beforeAll(async () => {
  const speaking = await startSpeakingUpstream({ pieceLength: PIECE_LENGTH });
  for (const format of FORMATS) {
    for (const prompt of [PLAIN_PROMPT, WEATHER_PROMPT]) {
      const body = JSON.stringify(format.ask(prompt));
      const answer = await fetch(speaking.origin + format.path, { method: 'POST', body });
      streams.set(`${format.dialect} ${prompt}`, (await answer.text()).split(/(?<=\n\n)/));
    }
  }
  await speaking.stop();
  upstream = await startUpstream(() => ({}));
  node = await startNode();
  node.store.modelList = [makeModel({ name: MODEL })];
});

afterAll(async () => {
  await node?.close();
  await upstream?.close();
});

/** What an upstream does that breaks off after these events, once they have passed on. */
function broken(events: readonly string[], way: (typeof WAYS)[number], format: CutFormat): Play {
  const headers = { 'content-type': 'text/event-stream' };
  const text = events.join('');
  const last = way === 'the upstream says that it failed' ? format.failure : COMMENT;
  const play = { headers, chunks: [text, last], gapMs: PASSED_MS };
  if (way !== 'the connection breaks') return play;
  return { ...play, cutAfterBytes: Buffer.byteLength(text + last) };
}

/** Whether these events are an answer that may count as whole. */
function isWhole(events: readonly string[], way: (typeof WAYS)[number], format: CutFormat): boolean {
  const mark = way === 'the body ends in order' ? format.finish : format.end;
  return mark !== undefined && events.some((event) => mark.test(event));
}

interface Attempt {
  /** Reads a whole stream; resolves to what is equal for whole answers only. */
  read(client: SdkClient, target: Target): Promise<unknown>;
  prompt: string;
  answer: unknown;
}

const PLAIN: Attempt = {
  read: async (client, target) => (await client.streamed(target)).text,
  prompt: PLAIN_PROMPT,
  answer: TEXT,
};
const CALL: Attempt = {
  read: (client, target) => client.streamedCall(target),
  prompt: WEATHER_PROMPT,
  answer: { name: TOOL_NAME, input: TOOL_INPUT },
};

describe.each(FORMATS)('a $dialect stream', (format) => {
  beforeAll(() => {
    const { dialect } = format;
    const baseUrl = `${upstream.origin}/${dialect === 'google-generate' ? 'v1beta' : 'v1'}`;
    node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: [dialect], baseUrl } })];
  });

  describe.each(CLIENTS)('read by $name', (client) => {
    it.each(WAYS)('is an error wherever it breaks off and %s', async (way) => {
      const wrong: string[] = [];
      for (const attempt of [PLAIN, CALL]) {
        const events = streamOf(format, attempt.prompt);
        expect(events.length).toBeGreaterThan(0);
        for (let count = 0; count <= events.length; count += 1) {
          const sent = events.slice(0, count);
          const { outcome, charges } = await read(client, attempt, broken(sent, way, format));
          const expected = isWhole(sent, way, format) ? whole(attempt) : 'error, 0 charges';
          const seen = `${outcome}, ${charges} charges`;
          if (seen !== expected) wrong.push(`after ${count} of ${events.length} events: ${seen}`);
        }
      }
      expect(wrong).toEqual([]);
    });
  });
});

/** What one client makes of one stream, in words. */
async function read(client: SdkClient, attempt: Attempt, play: Play) {
  const target = { url: `http://127.0.0.1:${node.port}`, key: node.secret, model: MODEL };
  upstream.play = () => play;
  upstream.seen = [];
  node.ledger.charges = [];
  const outcome = await attempt.read(client, target).then(
    (answer) => JSON.stringify(answer),
    (error: unknown) => (error instanceof ShortSuccess ? error.message : 'error'),
  );
  if (upstream.seen.length === 0) throw new Error('the upstream was not asked');
  return { outcome, charges: node.ledger.charges.length };
}

function whole({ answer }: Attempt): string {
  return `${JSON.stringify(answer)}, 1 charges`;
}
