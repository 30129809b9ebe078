/** Recorded traffic of real providers: each dialect decodes its requests and answers as expected. */
import { GatewayError } from '@gateway/shared/failures';
import { describe, expect, it } from 'vitest';
import { pathOf } from '../../test/dialect-samples.ts';
import {
  SKIPPED_SUFFIX,
  hasRecordings,
  readExpectations,
  readRecordings,
} from '../../test/recorded-traffic.ts';
import type { Recording } from '../../test/recorded-traffic.ts';
import { SseParser } from '../../test/sse-parser.ts';
import { collect } from './answer.ts';
import type { ChatRequest, ChatResponse } from './canonical.ts';
import type { Dialect } from './dialect.ts';
import { isObject, numberOf, objectOf, objectsOf, parseObject, textOf } from './fields.ts';
import type { JsonObject } from './fields.ts';
import { DIALECTS } from './index.ts';

/** Size of network chunks in bytes: a prime, so that the cuts fall everywhere. */
const CHUNK_BYTES = 61;

/** Recordings whose answers cannot be decoded as expected, with the reason. */
const EXCLUDED: Record<string, string> = {
  'anth-anthropic-6d5d2312ecc3': 'a hand-made broken stream with a second message_start in the middle',
  'resp-openai-dcf4e73f244d': 'a trimmed stream whose deltas hold less than its last event',
  'chat-cerebras-c1df46e3e1ed': 'the streams of several answers, one after the other',
};

/** Decodes the recorded answer. Throws its error, if it has one. */
function answerOf({ response, request }: Recording, dialect: Dialect): ChatResponse {
  if (response.sse === undefined) return dialect.outbound.decodeResponse(response.body);
  const requested = request ? choicesOf(request.body) : 1;
  const parser = new SseParser();
  const decoder = dialect.outbound.streamDecoder(requested);
  const bytes = Buffer.from(response.sse);
  const frames = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    frames.push(...parser.push(bytes.subarray(at, at + CHUNK_BYTES)));
  }
  frames.push(...parser.end());
  return collect([...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()]);
}

/** The requested number of choices, in any format. */
function choicesOf(body: JsonObject): number {
  return numberOf(body.n) ?? numberOf(objectOf(body.generationConfig).candidateCount) ?? 1;
}

/** Removes white space, because expectations join blocks differently. */
function compact(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function meaningOf({ choices: [choice], tokens }: ChatResponse): unknown {
  const blocks = choice?.blocks ?? [];
  const joined = (...kinds: string[]): string =>
    compact(blocks.flatMap((block) => (kinds.includes(block.kind) ? [block.text] : [])).join(''));
  const finish = choice?.finish === 'refusal' ? 'filter' : choice?.finish;
  return {
    text: joined('text', 'refusal', 'media'),
    thinking: joined('reasoning'),
    calls: blocks.flatMap((block) =>
      block.kind === 'tool-call' ? [[block.name, block.custom ? block.text : parseObject(block.text)]] : [],
    ),
    finish,
    tokens: { input: tokens.input, output: tokens.output ?? 0, cached: tokens.cached ?? 0 },
  };
}

/** The expected meaning. Takes a finish and counts that are left open from the answer. */
function meaningOfExpected(expected: JsonObject, got: ChatResponse): unknown {
  const usage = objectOf(expected.usage);
  const isRefusal = expected.finishReason === 'stop' && typeof expected.refusal === 'string';
  const finish = isRefusal ? 'filter' : expected.finishReason;
  const input = numberOf(usage.input);
  return {
    text: compact(textOf(expected.text) + textOf(expected.refusal)),
    thinking: compact(textOf(expected.thinkingText)),
    calls: objectsOf(expected.toolCalls).map(({ name, args }) => [name, args]),
    finish: ['other', 'pending', 'error'].includes(textOf(finish)) ? got.choices[0]?.finish : finish,
    tokens:
      input === undefined
        ? { input: got.tokens.input, output: got.tokens.output ?? 0, cached: got.tokens.cached ?? 0 }
        : { input, output: numberOf(usage.output) ?? 0, cached: numberOf(usage.cachedInput) ?? 0 },
  };
}

/** The parts of a request that the expectations name. They ignore tools in namespaces. */
function meaningOfRequest({ messages, tools, ...scalars }: ChatRequest): unknown {
  const names = tools.flatMap((tool) =>
    tool.kind === 'builtin' || (tool.kind === 'function' && tool.namespace) ? [] : [tool.name],
  );
  const system = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .flatMap(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : '')));
  return {
    tools: names,
    system: compact(system.join('')),
    maxTokens: scalars.maxOutputTokens ?? null,
    temperature: scalars.temperature ?? null,
    stop: scalars.stop,
    stream: scalars.stream,
  };
}

describe.skipIf(!hasRecordings)(`recorded traffic${SKIPPED_SUFFIX}`, () => {
  const all = readRecordings();
  const expectations = readExpectations();
  const expectationOf = (id: string, part: string): JsonObject => objectOf(expectations.get(id)?.[part]);

  it.each(Object.values(DIALECTS))('contains answers of $name that are decoded as expected', (dialect) => {
    for (const recording of all.filter(({ wire, id }) => wire === dialect.name && !EXCLUDED[id])) {
      const expected = expectationOf(recording.id, 'response');
      if (recording.response.status >= 400) {
        const body = JSON.stringify(recording.response.body);
        const failure = dialect.outbound.decodeError(recording.response.status, body);
        expect(failure, recording.id).toBeInstanceOf(GatewayError);
      } else if (isObject(expected.error)) {
        expect(() => answerOf(recording, dialect), recording.id).toThrow(GatewayError);
      } else {
        const answer = answerOf(recording, dialect);
        expect(meaningOf(answer), recording.id).toEqual(meaningOfExpected(expected, answer));
      }
    }
  });

  it.each(Object.values(DIALECTS))(
    'contains requests of $name that are decoded as expected, or refused for stored objects',
    (dialect) => {
      for (const { id, request, wire } of all) {
        if (wire !== dialect.name || !request) continue;
        const expected = expectationOf(id, 'request');
        try {
          const decoded = dialect.inbound.decodeRequest(request.body, pathOf(request.path));
          expect(meaningOfRequest(decoded), id).toEqual({
            tools: objectsOf(expected.tools).map(({ name }) => name),
            system: compact(textOf(expected.system)),
            maxTokens: expected.maxTokens,
            temperature: expected.temperature,
            stop: expected.stop,
            stream: expected.stream,
          });
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(error.message, id).toContain('stored at a provider');
        }
      }
    },
  );
});
