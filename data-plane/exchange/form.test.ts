/** Forms are read to their end or refused. Their digest depends on their parts alone. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readForm } from './form.ts';
import { RELAY_MEMBERS } from './relay-members.ts';
import { Spool } from './spool.ts';
import type { SpooledFile } from './spool.ts';

const members = RELAY_MEMBERS.transcriptions;
const spool = new Spool({ folder: mkdtempSync(join(tmpdir(), 'gateway-forms-')) });

type Piece = [name: string, value: string | Blob, filename?: string];

interface SendOptions {
  /** Size of each chunk, in bytes. */
  chunk?: number;
  withDigest?: boolean;
}

/** Encodes the form with a new boundary, and reads it in chunks. */
async function digestOf(pieces: Piece[], { chunk = 100_000, withDigest = true }: SendOptions = {}) {
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
  const common = { body, contentType, walletId: 'wallet-1', spool, members };
  const source = { ...common, withDigest, limitBytes: 10_000_000 };
  const files: SpooledFile[] = [];
  const { digest } = await readForm({ ...source, onFile: (file) => void files.push(file) });
  await Promise.all(files.map((file) => file.drop()));
  return digest;
}

const sound = (fill: number, bytes = 400_000): Blob =>
  new Blob([new Uint8Array(bytes).fill(fill)], { type: 'audio/wav' });
const FORM: Piece[] = [
  ['file', sound(1)],
  ['model', 'swift'],
  ['language', 'en'],
];

/** Reads a form whose chunks and end arrive in separate iterations of the event loop. */
async function readChunks(...chunks: string[]) {
  const body = (async function* () {
    for (const chunk of chunks) {
      yield Buffer.from(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const contentType = 'multipart/form-data; boundary=bound';
  const common = { body, contentType, walletId: 'wallet-1', spool, members };
  const source = { ...common, withDigest: false, limitBytes: 10_000 };
  const { fields } = await readForm({ ...source, onFile: (file) => void file.drop() });
  return fields;
}

const part = (head: string): string =>
  `--bound\r\nContent-Disposition: form-data; name="model"${head}\r\n\r\nswift\r\n--bound--`;

describe('a form', () => {
  it('is read to its end when bytes follow the closing boundary in later chunks', async () => {
    expect(await readChunks(part(''), '\r\n', 'epilogue')).toEqual({ model: 'swift' });
    // The parser finishes while it takes the second chunk, because no part has a readable head.
    const second = 'und--\r\ns"position: form-data\r\n--bound--\r\n';
    expect(await readChunks('--bound\r\nContent-Dis"a: form-data\r\n--bo', second)).toEqual({});
  });

  it('is refused if a part has a transfer encoding, which parsers read in different ways', async () => {
    const encoded = readChunks(part('\r\nContent-Transfer-Encoding: base64'));
    await expect(encoded).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await readChunks(part('\r\nContent-Transfer-Encoding: 8bit'))).toEqual({ model: 'swift' });
  });
});

describe('the digest of a form', () => {
  it('is the same for the same parts with another boundary and in other chunks', async () => {
    const digest = await digestOf(FORM);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await digestOf(FORM, { chunk: 7_001 })).toBe(digest);
    expect(await digestOf(FORM, { chunk: 1_000_000 })).toBe(digest);
  });

  it('changes with the content, name, type, field or order of any part', async () => {
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

  it('is computed only on request', async () => {
    expect(await digestOf(FORM, { withDigest: false })).toBe(undefined);
  });
});
