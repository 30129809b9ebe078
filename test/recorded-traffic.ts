/**
 * Reads recorded traffic of real providers for tests of dialects. The recordings are in `shared/corpus` next
 * to the checkout, not in the folder `shared/` of this repository.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isObject, numberOf, objectOf, parseObject, textOf } from '../data-plane/dialects/fields.ts';
import type { JsonObject } from '../data-plane/dialects/fields.ts';

const FOLDER = fileURLToPath(new URL('../../shared/corpus/', import.meta.url));
/** The recordings that development may use, one file each. */
const RECORDINGS = `${FOLDER}dev`;

export interface Recording {
  id: string;
  /** Dialect of the recorded exchange, by its name. */
  wire: string;
  /** Undefined if the request was not recorded. */
  request: { path: string; body: JsonObject } | undefined;
  /** `sse` holds the body of a streamed answer. */
  response: { status: number; body: unknown; sse: string | undefined };
}

export const hasRecordings = existsSync(RECORDINGS);
/** Appended to the title of a suite that is skipped because there are no recordings. */
export const SKIPPED_SUFFIX = hasRecordings ? '' : ` (skipped: no recordings at ${FOLDER})`;

/** All recordings; empty if there are none on this machine. */
export function readRecordings(): Recording[] {
  if (!hasRecordings) return [];
  return readdirSync(RECORDINGS).map((file) => {
    const value = parseObject(readFileSync(`${RECORDINGS}/${file}`, 'utf8')) ?? {};
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
    };
  });
}

/** The expected result of decoding each recording, by the id of the recording. */
export function readExpectations(): Map<string, JsonObject> {
  if (!hasRecordings) return new Map();
  const lines = readFileSync(`${FOLDER}expected.jsonl`, 'utf8').trim().split('\n');
  return new Map(lines.map((line) => objectOf(JSON.parse(line))).map((value) => [textOf(value.id), value]));
}
