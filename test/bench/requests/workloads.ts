/** The workloads of the benchmark: each is a kind of request, and how many of them are sent. */
import type { Format, Question } from './formats.ts';
import { FORMATS } from './formats.ts';

/** The model of each upstream format. Each has one route, whose upstream speaks that format alone. */
export const MODELS: Readonly<Record<Format, string>> = {
  chat: 'budget',
  responses: 'coder',
  messages: 'balanced',
  generative: 'flagship',
};
/** A chat model whose upstream sends one chunk per `PACE_MS`. */
export const PACED_MODEL = 'swift';
/** A chat model whose streams get their first chunk only, so that they stay open. */
export const HOLDING_MODEL = 'budget-plus';
/** Time between two chunks of a paced stream, in ms: about that of a fast model. */
export const PACE_MS = 10;
/** Words of a streamed answer, one per chunk. */
export const CHUNKS = 100;

/** Either a number of requests in closed loops, or a rate that the clock sets. */
export type Load =
  | { kind: 'closed'; requests: number; atOnce: number }
  | { kind: 'rate'; perSecond: number; seconds: number };

export interface Workload {
  name: string;
  client: Format;
  question: Question;
  load: Load;
  /** The unit of the figures: a request, or a chunk of its answer. */
  per: 'request' | 'chunk';
  /** Greatest permitted CPU time, as a multiple of that of bare Fastify. */
  target?: number;
}

const SHORT = ['Say two hundred words about nothing in particular, please.'];
/** 100 turns of about 1.7 kB, as an agent sends them with 20 tools: 200 kB. */
const LONG = Array.from(
  { length: 101 },
  (_, at) => `${at}: ${'The function reads a file and returns its lines, or "nothing".\n'.repeat(27)}`,
);
const PICTURE_BYTES = 1_000_000;

const short = (model: string, stream = false): Question => ({ model, stream, turns: SHORT, tools: 0 });

/** First bytes of a PNG file, which the gateway checks. https://www.w3.org/TR/png-3/#5PNG-file-signature */
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** A picture of random bytes in base64, which no compression makes small. */
function picture(): string {
  let seed = 7;
  const bytes = Buffer.alloc((PICTURE_BYTES * 3) / 4);
  for (let at = 0; at < bytes.length; at += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    bytes[at] = seed >> 16;
  }
  bytes.set(PNG_SIGNATURE);
  return bytes.toString('base64');
}

/** One workload per pair of formats: whole answers of short requests. */
function pairs(): Workload[] {
  return FORMATS.flatMap((client) =>
    FORMATS.map((upstream) => ({
      name: `${client} on ${upstream}`,
      client,
      question: short(MODELS[upstream]),
      load: { kind: 'closed', requests: 1_500, atOnce: 16 } as const,
      per: 'request' as const,
    })),
  );
}

/** Requests a second by the clock. Few cores cannot bear the higher rates beside their clients. */
const RATES = [100, 1_000, 2_000, 3_000];
const closed = (requests: number, atOnce: number): Load => ({ kind: 'closed', requests, atOnce });
const chat = { client: 'chat', per: 'request' } as const;

/** All workloads, in the order of a run. */
export function workloads(): Workload[] {
  const agent: Question = { model: MODELS.chat, stream: false, turns: LONG, tools: 20 };
  const seeing: Question = { ...agent, turns: SHORT, tools: 0, picture: picture() };
  const paced = short(PACED_MODEL, true);
  return [
    { ...chat, name: 'whole', question: short(MODELS.chat), load: closed(6_000, 32), target: 1.5 },
    { ...chat, name: 'chunk', question: paced, load: closed(96, 32), per: 'chunk', target: 1.15 },
    {
      ...{ name: 'translated chunk', client: 'messages', question: paced, load: closed(96, 32) },
      ...{ per: 'chunk', target: 1.35 },
    },
    { ...chat, name: 'agent', question: agent, load: closed(600, 8), target: 1.5 },
    { ...chat, name: 'picture', question: seeing, load: closed(200, 4) },
    ...RATES.map((perSecond) => ({
      ...{ ...chat, name: `${perSecond.toLocaleString('en')} a second`, question: short(MODELS.chat) },
      load: { kind: 'rate', perSecond, seconds: perSecond > 100 ? 5 : 15 } as const,
    })),
    ...pairs(),
  ];
}

/** Workloads of a run that names none. The others need more cores or more time. */
export const USUAL: readonly string[] = [
  ...['whole', 'chunk', 'translated chunk', 'agent', 'picture', '100 a second'],
];
