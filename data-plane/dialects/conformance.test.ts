/** The conformance suite of all dialects: each decodes what it encoded, whole and streamed. */
import { FAILURES, GatewayError } from '@gateway/shared/failures';
import type { FailureCode } from '@gateway/shared/failures';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collect, replay } from './answer.ts';
import type { ChatEvent, ChatResponse } from './canonical.ts';
import {
  BARE_REQUEST,
  meaningOfRequest,
  meaningOfResponse,
  pathOf,
  requests,
  responses,
} from '../../test/dialect-samples.ts';
import type { Dialect } from './dialect.ts';
import { DIALECTS } from './index.ts';
import { SseParser } from '../../test/sse-parser.ts';
import type { SseFrame } from './sse.ts';

/** Parses bytes that arrive in two chunks, cut at `cut`. */
function framesOf(bytes: Uint8Array, cut: number): SseFrame[] {
  const parser = new SseParser();
  return [...parser.push(bytes.subarray(0, cut)), ...parser.push(bytes.subarray(cut)), ...parser.end()];
}

/** Decodes a stream of this dialect that arrives in two chunks, cut at `cut`. */
function read(dialect: Dialect, bytes: Uint8Array, options: { cut: number; choices?: number }): ChatEvent[] {
  const decoder = dialect.outbound.streamDecoder(options.choices ?? 1);
  const frames = framesOf(bytes, options.cut);
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

function write(dialect: Dialect, response: ChatResponse, request = BARE_REQUEST): Uint8Array {
  const encoder = dialect.inbound.streamEncoder(request);
  return Buffer.from([...replay(response)].map((event) => encoder.push(event)).join(''));
}

/** The answer with only the choices that the format can carry. */
function carried(response: ChatResponse, dialect: Dialect): ChatResponse {
  return dialect.inbound.losses.choices ? { ...response, choices: response.choices.slice(0, 1) } : response;
}

it('collecting the events of a replayed answer returns the answer', () => {
  fc.assert(
    fc.property(responses(2), (response) => {
      expect(collect(replay(response))).toEqual(response);
    }),
  );
});

for (const dialect of Object.values(DIALECTS))
  describe(dialect.name, () => {
    it('decodes its own whole answers', () => {
      fc.assert(
        fc.property(responses(2), (response) => {
          const wire: unknown = JSON.parse(
            JSON.stringify(dialect.inbound.encodeResponse(response, BARE_REQUEST)),
          );
          const decoded = dialect.outbound.decodeResponse(wire);
          expect(meaningOfResponse(decoded)).toEqual(meaningOfResponse(carried(response, dialect)));
        }),
      );
    });

    it('decodes its own streams, cut at every byte', () => {
      fc.assert(
        fc.property(responses(1), (response) => {
          const bytes = write(dialect, response);
          const whole = read(dialect, bytes, { cut: 0 });
          expect(meaningOfResponse(collect(whole))).toEqual(meaningOfResponse(response));
          // The decoder's events depend only on the frames.
          const frames = JSON.stringify(framesOf(bytes, 0));
          const isSame = (cut: number): boolean => JSON.stringify(framesOf(bytes, cut)) === frames;
          for (let cut = 1; cut < bytes.length; cut += 1) if (!isSame(cut)) expect.fail(`cut at ${cut}`);
        }),
        { numRuns: 5 },
      );
      // A long answer takes many cuts.
    }, 120_000);

    it('decodes its own streams of several choices', () => {
      fc.assert(
        fc.property(responses(3), (response) => {
          const expected = carried(response, dialect);
          const bytes = write(dialect, response, { ...BARE_REQUEST, choices: 3 });
          const events = read(dialect, bytes, { cut: 0, choices: expected.choices.length });
          expect(meaningOfResponse(collect(events))).toEqual(meaningOfResponse(expected));
        }),
      );
    });

    it('keeps the rules of events: start first, no overlapping blocks, done last', () => {
      fc.assert(
        fc.property(responses(2), (response) => {
          const events = read(dialect, write(dialect, response), { cut: 7 });
          expect(events[0]?.type).toBe('start');
          expect(events.at(-1)?.type).toBe('done');
          const open = new Map<number, boolean>();
          for (const event of events) {
            if (event.type === 'block-start') {
              expect(open.get(event.choice) ?? false).toBe(false);
              open.set(event.choice, true);
            } else if ('choice' in event) {
              expect(open.get(event.choice) ?? false).toBe(event.type !== 'finish');
              if (event.type === 'block-end') open.set(event.choice, false);
            }
          }
        }),
      );
    });

    it('reports a stream that was cut off before its finish as an error', () => {
      fc.assert(
        fc.property(responses(1), fc.double({ min: 0, max: 1, noNaN: true }), (response, share) => {
          const bytes = write(dialect, response);
          const events = read(dialect, bytes.subarray(0, Math.floor(bytes.length * share)), { cut: 0 });
          const isFinished = events.some(({ type }) => type === 'finish');
          if (!isFinished) expect(events.at(-1)?.type).toBe('error');
          expect(events.filter(({ type }) => type === 'done' || type === 'error')).toHaveLength(1);
        }),
      );
    });

    it('ends a failed stream with an error, which its decoder reports', () => {
      fc.assert(
        fc.property(responses(1), (response) => {
          const encoder = dialect.inbound.streamEncoder(BARE_REQUEST);
          const begun = [...replay(response)]
            .slice(0, 3)
            .map((event) => encoder.push(event))
            .join('');
          const failure = new GatewayError('upstream_failed', 'The model broke off.');
          const text = begun + dialect.inbound.encodeStreamError(failure);
          const events = read(dialect, Buffer.from(text), { cut: 0 });
          expect(events.at(-1)?.type).toBe('error');
          expect(events.some(({ type }) => type === 'done')).toBe(false);
        }),
      );
    });

    it('decodes its own requests, except for the drops', () => {
      fc.assert(
        fc.property(requests, (request) => {
          const { path, body, dropped } = dialect.outbound.encodeRequest(request, 'm');
          const decoded = dialect.inbound.decodeRequest(JSON.parse(JSON.stringify(body)), pathOf(path));
          expect(Object.values(request.pointers)).toEqual(expect.arrayContaining(dropped));
          expect(meaningOfRequest(decoded, request, dropped)).toEqual(
            meaningOfRequest(request, request, dropped),
          );
        }),
      );
    });

    it('names every scalar that it drops', () => {
      fc.assert(
        fc.property(requests, (request) => {
          const { path, body, dropped } = dialect.outbound.encodeRequest({ ...request, choices: 1 }, 'm');
          const decoded = dialect.inbound.decodeRequest(JSON.parse(JSON.stringify(body)), pathOf(path));
          for (const name of ['seed', 'stop', 'temperature', 'topP', 'format'] as const) {
            const isKept = decoded.pointers[name] !== undefined;
            if (request.pointers[name]) expect([isKept, dropped.includes(`/${name}`)]).toContain(true);
          }
        }),
      );
    });

    it('passes unknown fields to its own upstreams and drops them for all others', () => {
      const extras = [{ dialect: dialect.name, pointer: '/new_field', value: { a: 1 } }];
      const messages = [
        { role: 'user' as const, at: '/m', parts: [{ kind: 'text' as const, text: 'hi', at: '/m' }] },
      ];
      for (const other of Object.values(DIALECTS)) {
        const { body, dropped } = other.outbound.encodeRequest({ ...BARE_REQUEST, messages, extras }, 'm');
        expect(body.new_field).toEqual(other === dialect ? { a: 1 } : undefined);
        expect(dropped).toEqual(other === dialect ? [] : ['/new_field']);
      }
    });

    it('encodes and decodes every failure code in its own error format', () => {
      for (const code of Object.keys(FAILURES) as FailureCode[]) {
        const failure = new GatewayError(code, `It failed: ${code}.`);
        const body = JSON.stringify(dialect.inbound.encodeError(failure));
        expect(body).toContain(`It failed: ${code}.`);
        const decoded = dialect.outbound.decodeError(400, body);
        expect(decoded.message).toBe(`It failed: ${code}.`);
        expect(decoded.details.upstream).toEqual({ status: 400, body });
      }
    });

    it('passes only upstream errors 400, 413 and 422 on, and none about the operator’s account', () => {
      const body = JSON.stringify(
        dialect.inbound.encodeError(new GatewayError('internal', 'Your credit is used up.')),
      );
      const codeOf = (status: number) => dialect.outbound.decodeError(status, body).code;
      expect([400, 413, 422].map(codeOf)).toEqual(['invalid_request', 'body_too_large', 'invalid_request']);
      for (const status of [401, 402, 403, 404, 500, 503]) expect(codeOf(status)).toBe('upstream_failed');
      for (const status of [429, 529]) expect(codeOf(status)).toBe('upstream_busy');
      for (const status of [401, 402, 429, 500]) {
        expect(dialect.outbound.decodeError(status, body).message).not.toContain('credit');
      }
      expect(dialect.outbound.decodeError(500, '<html>').code).toBe('upstream_failed');
    });

    it('reports an unreadable answer as a failure of the upstream', () => {
      const garbage: unknown[] = [null, 7, 'text', [], {}, { error: { message: 'no', type: 'x' } }];
      for (const wire of garbage) expect(() => dialect.outbound.decodeResponse(wire)).toThrow(GatewayError);
      for (const data of ['{', '7', '{"error":{"message":"no","type":"overloaded_error","code":529}}']) {
        const decoder = dialect.outbound.streamDecoder(1);
        const events = [...decoder.push({ data }), ...decoder.end()];
        expect(events.filter(({ type }) => type !== 'start').map(({ type }) => type)).toEqual(['error']);
      }
    });

    it('refuses requests with fields of the wrong type', () => {
      for (const wire of [{}, { model: 7 }, { model: 'm', messages: 'x', input: 7, contents: 7 }]) {
        expect(() => dialect.inbound.decodeRequest(wire, {})).toThrow(GatewayError);
      }
    });

    it('states a reason for each of its losses', () => {
      for (const reason of Object.values(dialect.inbound.losses)) expect(reason.length).toBeGreaterThan(10);
    });
  });
