/**
 * A stream that is cut after any of its events is an error in every SDK, never an incomplete success, and is
 * not charged.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode } from '../request-path.ts';
import type { TestNode } from '../request-path.ts';
import { startUpstream } from '../upstream.ts';
import type { FakeUpstream, Play } from '../upstream.ts';
import { AI_CLIENTS } from './ai.ts';
import { anthropic } from './anthropic.ts';
import {
  IncompleteAnswer,
  PLAIN_PROMPT,
  TEXT,
  TOOL_INPUT,
  TOOL_NAME,
  WEATHER_PROMPT,
} from './conversation.ts';
import type { SdkClient, Target } from './conversation.ts';
import { google } from './google.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import { GENERATIVE_MODEL, startSpeakingUpstream } from './upstream.ts';

/** One provider package of the ai package for each format that it parses itself. */
const AI_PARSERS = /responses|anthropic|google/;
const AI_SELECTION = AI_CLIENTS.filter(({ name }) => AI_PARSERS.test(name));
const CLIENTS = [openaiChat, openaiResponses, anthropic, google, ...AI_SELECTION];
const PIECE_LENGTH = 40;
const MODEL = 'swift';
/** Time for the sent events to reach the client before the cut, in ms. */
const DELIVERY_MS = 2;
/** Means nothing in any format. */
const COMMENT = ': \n\n';

interface CutFormat {
  dialect: 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'google-generate';
  path: string;
  ask(prompt: string): object;
  /** After this event the answer is complete, even if the connection breaks. */
  end: RegExp | undefined;
  /** After this event the answer is complete if the body then ends cleanly. */
  finish: RegExp;
  /** The event by which the upstream reports its failure. */
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

const CUTS = ['the body ends cleanly', 'the connection breaks', 'the upstream reports a failure'] as const;

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

/** An upstream's behaviour: it sends these events, and then its stream is cut. */
function cutAfter(events: readonly string[], cut: (typeof CUTS)[number], format: CutFormat): Play {
  const headers = { 'content-type': 'text/event-stream' };
  const text = events.join('');
  const last = cut === 'the upstream reports a failure' ? format.failure : COMMENT;
  const play = { headers, chunks: [text, last], gapMs: DELIVERY_MS };
  if (cut !== 'the connection breaks') return play;
  return { ...play, cutAfterBytes: Buffer.byteLength(text + last) };
}

/** Whether these events are a complete answer. */
function isComplete(events: readonly string[], cut: (typeof CUTS)[number], format: CutFormat): boolean {
  const mark = cut === 'the body ends cleanly' ? format.finish : format.end;
  return mark !== undefined && events.some((event) => mark.test(event));
}

interface Reading {
  /** Reads a stream; the result equals `answer` only for a complete answer. */
  read(client: SdkClient, target: Target): Promise<unknown>;
  prompt: string;
  answer: unknown;
}

const PLAIN: Reading = {
  read: async (client, target) => (await client.streamed(target)).text,
  prompt: PLAIN_PROMPT,
  answer: TEXT,
};
const CALL: Reading = {
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
    it.each(CUTS)('is an error after any incomplete part of the stream if %s', async (cut) => {
      const wrong: string[] = [];
      for (const reading of [PLAIN, CALL]) {
        const events = streamOf(format, reading.prompt);
        expect(events.length).toBeGreaterThan(0);
        for (let count = 0; count <= events.length; count += 1) {
          const sent = events.slice(0, count);
          const { outcome, charges } = await read(client, reading, cutAfter(sent, cut, format));
          const expected = isComplete(sent, cut, format) ? success(reading) : 'error, 0 charges';
          const seen = `${outcome}, ${charges} charges`;
          if (seen !== expected) wrong.push(`after ${count} of ${events.length} events: ${seen}`);
        }
      }
      expect(wrong).toEqual([]);
    });
  });
});

/** Result of a client for a stream, as text, and the number of charges. */
async function read(client: SdkClient, reading: Reading, play: Play) {
  const target = { url: `http://127.0.0.1:${node.port}`, key: node.secret, model: MODEL };
  upstream.play = () => play;
  upstream.seen = [];
  node.ledger.charges = [];
  const outcome = await reading.read(client, target).then(
    (answer) => JSON.stringify(answer),
    (error: unknown) => (error instanceof IncompleteAnswer ? error.message : 'error'),
  );
  if (upstream.seen.length === 0) throw new Error('the upstream was not asked');
  return { outcome, charges: node.ledger.charges.length };
}

function success({ answer }: Reading): string {
  return `${JSON.stringify(answer)}, 1 charges`;
}
