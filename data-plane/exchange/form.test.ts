/** What a form is known by: its parts, and nothing of how they travelled. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readForm } from './form.ts';
import { Uploads } from './parked.ts';
import type { ParkedFile } from './parked.ts';

const uploads = new Uploads(mkdtempSync(join(tmpdir(), 'gateway-forms-')));

type Piece = [name: string, value: string | Blob, filename?: string];

interface Travel {
  /** Bytes of each chunk. */
  chunk?: number;
  digested?: boolean;
}

/** Encodes with a boundary of its own, and reads it in chunks. */
async function digestOf(pieces: Piece[], { chunk = 100_000, digested = true }: Travel = {}) {
  const form = new FormData();
  for (const [name, value, filename] of pieces)
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, filename ?? 'a.wav');
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? '';
  const bytes = Buffer.from(await encoded.arrayBuffer());
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, at) =>
    bytes.subarray(at * chunk, (at + 1) * chunk),
  );
  const body = Readable.from(chunks, { objectMode: false });
  const source = { body, contentType, uploads, digested, limitBytes: 10_000_000 };
  const parked: ParkedFile[] = [];
  const { digest } = await readForm({ ...source, park: (file) => void parked.push(file) });
  await Promise.all(parked.map((file) => file.drop()));
  return digest;
}

const sound = (fill: number, bytes = 400_000): Blob =>
  new Blob([new Uint8Array(bytes).fill(fill)], { type: 'audio/wav' });
const FORM: Piece[] = [
  ['file', sound(1)],
  ['model', 'swift'],
  ['language', 'en'],
];

describe('the digest of a form', () => {
  it('is the same for the same parts under another boundary, in other chunks', async () => {
    const digest = await digestOf(FORM);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await digestOf(FORM, { chunk: 7_001 })).toBe(digest);
    expect(await digestOf(FORM, { chunk: 1_000_000 })).toBe(digest);
  });

  it('is another one for any other part: content, name, type, field, order', async () => {
    const digests = await Promise.all(
      [
        FORM,
        [['file', sound(2)], ...FORM.slice(1)],
        [['file', sound(1, 400_001)], ...FORM.slice(1)],
        [['file', sound(1), 'b.wav'], ...FORM.slice(1)],
        [['file', sound(1).slice(0, undefined, 'audio/mp3')], ...FORM.slice(1)],
        [['sound', sound(1)], ...FORM.slice(1)],
        [FORM[0], ['model', 'swift'], ['language', 'de']],
        [FORM[0], ['model', 'swift'], ['lang', 'en']],
        [FORM[0], FORM[2], FORM[1]],
        FORM.slice(0, 2),
      ].map((pieces) => digestOf(pieces as Piece[])),
    );
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('is not made where nobody asks for it', async () => {
    expect(await digestOf(FORM, { digested: false })).toBe(undefined);
  });
});
