/**
 * Recorded traffic of real providers, read by the dialect of its wire: requests and answers decode and say
 * what their summaries say. The recordings lie beside the checkout and are no part of the repository.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '@gateway/shared/failures';
import { describe, expect, it } from 'vitest';
import { collect } from './answer.ts';
import type { ChatResponse } from './canonical.ts';
import type { Dialect, RequestPath } from './dialect.ts';
import { isObject, numberOf, objectOf, objectsOf, parseObject, textOf } from './fields.ts';
import type { JsonObject } from './fields.ts';
import { DIALECTS } from './index.ts';
import { SseParser } from './sse.ts';

const FOLDER = fileURLToPath(new URL('../../../shared/corpus/', import.meta.url));
const isThere = existsSync(`${FOLDER}dev`);
/** Network chunks of this many bytes: prime, so that cuts fall everywhere. */
const CHUNK_BYTES = 61;

/** Recordings that no dialect can read as their summary wants, with the reason. */
const EXCUSED: Record<string, string> = {
  'anth-anthropic-6d5d2312ecc3':
    'a second message_start in the middle of the stream: hand-made, broken on purpose',
  'resp-openai-dcf4e73f244d': 'a trimmed stream, whose deltas say less than its last event',
  'chat-cerebras-c1df46e3e1ed': 'the streams of two answers, one after the other',
};

interface Recording {
  id: string;
  wire: string;
  request: { path: string; body: JsonObject } | undefined;
  response: { status: number; body: unknown; sse: string | undefined };
  expected: JsonObject;
}

function recordings(): Recording[] {
  const lines = readFileSync(`${FOLDER}expected.jsonl`, 'utf8').trim().split('\n');
  const summaries = new Map(
    lines.map((line) => [textOf(objectOf(JSON.parse(line)).id), objectOf(JSON.parse(line))]),
  );
  return readdirSync(`${FOLDER}dev`).map((file) => {
    const value = parseObject(readFileSync(`${FOLDER}dev/${file}`, 'utf8')) ?? {};
    const request = objectOf(value.request);
    const response = objectOf(value.response);
    return {
      id: textOf(value.id),
      wire: textOf(value.wire),
      request: isObject(request.body) ? { path: textOf(request.path), body: request.body } : undefined,
      response: {
        status: numberOf(response.status) ?? 0,
        body: response.body,
        sse: typeof response.sse === 'string' ? response.sse : undefined,
      },
      expected: objectOf(summaries.get(textOf(value.id))),
    };
  });
}

function pathOf(path: string): RequestPath {
  const url = new URL(path, 'http://provider');
  const [, model, verb] = /models\/([^/:]+):([a-zA-Z]+)/.exec(decodeURIComponent(url.pathname)) ?? [];
  const stream = verb?.startsWith('stream') ?? false;
  return { ...(model === undefined ? {} : { model, stream }), query: url.searchParams };
}

/** The recorded answer; an error inside it is thrown. */
function answerOf({ response, request }: Recording, dialect: Dialect): ChatResponse {
  if (response.sse === undefined) return dialect.outbound.decodeResponse(response.body);
  const asked = request ? choicesOf(request.body) : 1;
  const parser = new SseParser();
  const decoder = dialect.outbound.streamDecoder(asked);
  const bytes = Buffer.from(response.sse);
  const frames = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    frames.push(...parser.push(bytes.subarray(at, at + CHUNK_BYTES)));
  }
  frames.push(...parser.end());
  return collect([...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()]);
}

/** How many answers were asked for, in the words of any format. */
function choicesOf(body: JsonObject): number {
  return numberOf(body.n) ?? numberOf(objectOf(body.generationConfig).candidateCount) ?? 1;
}

/** Blanks between joined blocks do not count. */
function bare(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function meaningOf({ choices: [choice], tokens }: ChatResponse): unknown {
  const blocks = choice?.blocks ?? [];
  const joined = (...kinds: string[]): string =>
    bare(blocks.flatMap((block) => (kinds.includes(block.kind) ? [block.text] : [])).join(''));
  const finish = choice?.finish === 'refusal' ? 'filter' : choice?.finish;
  return {
    said: joined('text', 'refusal', 'media'),
    thinking: joined('reasoning'),
    calls: blocks.flatMap((block) =>
      block.kind === 'tool-call' ? [[block.name, block.custom ? block.text : parseObject(block.text)]] : [],
    ),
    finish,
    tokens: { input: tokens.input, output: tokens.output ?? 0, cached: tokens.cached ?? 0 },
  };
}

/** The same of the recording's summary; finishes and counts that it leaves open are taken from the answer. */
function meaningOfSummary(summary: JsonObject, got: ChatResponse): unknown {
  const usage = objectOf(summary.usage);
  const finish =
    summary.finishReason === 'stop' && typeof summary.refusal === 'string' ? 'filter' : summary.finishReason;
  const input = numberOf(usage.input);
  return {
    said: bare(textOf(summary.text) + textOf(summary.refusal)),
    thinking: bare(textOf(summary.thinkingText)),
    calls: objectsOf(summary.toolCalls).map(({ name, args }) => [name, args]),
    finish: ['other', 'pending', 'error'].includes(textOf(finish)) ? got.choices[0]?.finish : finish,
    tokens:
      input === undefined
        ? { input: got.tokens.input, output: got.tokens.output ?? 0, cached: got.tokens.cached ?? 0 }
        : { input, output: numberOf(usage.output) ?? 0, cached: numberOf(usage.cachedInput) ?? 0 },
  };
}

const reason = isThere ? '' : ` (skipped: no recordings at ${FOLDER})`;

describe.skipIf(!isThere)(`recorded traffic${reason}`, () => {
  const all = isThere ? recordings() : [];

  it.each(Object.values(DIALECTS))('answers of $name say what was recorded', (dialect) => {
    for (const recording of all.filter(({ wire, id }) => wire === dialect.name && !EXCUSED[id])) {
      const summary = objectOf(recording.expected.response);
      if (recording.response.status >= 400) {
        const body = JSON.stringify(recording.response.body);
        const failure = dialect.outbound.decodeError(recording.response.status, body);
        expect(failure, recording.id).toBeInstanceOf(GatewayError);
      } else if (isObject(summary.error)) {
        expect(() => answerOf(recording, dialect), recording.id).toThrow(GatewayError);
      } else {
        const answer = answerOf(recording, dialect);
        expect(meaningOf(answer), recording.id).toEqual(meaningOfSummary(summary, answer));
      }
    }
  });

  it.each(Object.values(DIALECTS))(
    'requests of $name decode, or are refused for what they have stored',
    (dialect) => {
      for (const { id, request, wire, expected } of all) {
        if (wire !== dialect.name || !request) continue;
        const summary = objectOf(expected.request);
        try {
          const decoded = dialect.inbound.decodeRequest(request.body, pathOf(request.path));
          // The summaries do not look into namespaces.
          const names = decoded.tools.flatMap((tool) =>
            tool.kind === 'builtin' || (tool.kind === 'function' && tool.namespace) ? [] : [tool.name],
          );
          const system = decoded.messages.filter(({ role }) => role === 'system' || role === 'developer');
          const texts = system.flatMap(({ parts }) =>
            parts.map((part) => (part.kind === 'text' ? part.text : '')),
          );
          expect(names, id).toEqual(objectsOf(summary.tools).map(({ name }) => name));
          expect(bare(texts.join('')), id).toBe(bare(textOf(summary.system)));
          expect(decoded.maxOutputTokens ?? null, id).toBe(summary.maxTokens);
          expect(decoded.temperature ?? null, id).toBe(summary.temperature);
          expect(decoded.stop, id).toEqual(summary.stop);
          expect(decoded.stream, id).toBe(summary.stream);
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(error.message, id).toContain('stored at a provider');
        }
      }
    },
  );
});
