/** Form uploads over real sockets: order of parts, size limits, malformed forms. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { request as httpRequest } from 'node:http';
import { makeModel, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { CallResult, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const MEGABYTE = 1024 * 1024;
const SSE = { 'content-type': 'text/event-stream' };
const TRANSCRIPT = JSON.stringify({
  text: 'Hello',
  usage: { type: 'tokens', input_tokens: 9, output_tokens: 2 },
});

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({ chunks: [TRANSCRIPT] }));
  node = await startNode();
  const limits = { maxChoices: 2, maxInputs: 8, maxBodyBytes: 64 * MEGABYTE, serviceTiers: [] };
  node.store.modelList = [makeModel({ families: ['audio', 'images'], limits })];
  node.store.routes.push(makeRoute(upstream.origin, { route: { families: ['audio', 'images'] } }));
});

afterEach(async () => {
  await node.close();
  await upstream.close();
});

type Piece = [name: string, value: string | Buffer | Blob, filename?: string];

/** Sends a form as the platform's own encoder writes it. */
async function post(path: string, pieces: Piece[]): Promise<CallResult> {
  const form = new FormData();
  for (const [name, value, filename] of pieces) {
    if (typeof value === 'string') form.append(name, value);
    else
      form.append(
        name,
        Buffer.isBuffer(value) ? new Blob([Uint8Array.from(value)]) : value,
        filename ?? 'a.wav',
      );
  }
  const encoded = new Response(form);
  const body = Buffer.from(await encoded.arrayBuffer());
  return node.call({ path, body, headers: { 'content-type': encoded.headers.get('content-type') ?? '' } });
}

const transcribe = (pieces: Piece[]) => post('/v1/audio/transcriptions', pieces);
const sound = (bytes = 2000): Buffer => Buffer.alloc(bytes, 7);

function expectFree(): void {
  expect(node.ledger.charges).toEqual([]);
  expect(node.ledger.open).toBe(0);
}

/** The parts of the form that the upstream got. */
async function received(): Promise<Record<string, string>> {
  const [seen] = upstream.seen;
  const headers = { 'content-type': seen?.headers['content-type'] ?? '' };
  expect(Number(seen?.headers['content-length'])).toBe(Buffer.byteLength(seen?.body ?? ''));
  const form = await new Response(seen?.body ?? '', { headers }).formData();
  const parts: Record<string, string> = {};
  for (const [name, value] of form)
    parts[name] =
      typeof value === 'string' ? value : `${value.name} ${value.type} ${(await value.text()).length}`;
  return parts;
}

describe('a recording', () => {
  it('gets the upstream’s model also if it precedes its model, as in the official SDK', async () => {
    const { status, text } = await transcribe([
      ['file', new Blob([Uint8Array.from(sound())], { type: 'audio/wav' }), 'na"me.wav'],
      ['model', 'swift'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    ]);
    expect({ status, text }).toEqual({ status: 200, text: TRANSCRIPT });
    expect(await received()).toMatchObject({ model: 'vendor-model', file: 'na"me.wav audio/wav 2000' });
    expect(upstream.seen[0]?.body).toContain('word\r\n');
    expect(upstream.seen[0]?.body).toContain('segment\r\n');
    expect(node.ledger.charges).toMatchObject([{ family: 'audio', tokens: { input: 9, output: 2 } }]);
  });

  it('is spooled to disk above the memory limit and arrives unchanged', async () => {
    const { status } = await transcribe([
      ['file', sound(5 * MEGABYTE)],
      ['model', 'swift'],
    ]);
    expect(status).toBe(200);
    expect((await received()).file).toBe(`a.wav application/octet-stream ${5 * MEGABYTE}`);
  });

  it('is sent again to the next upstream if the first one fails', async () => {
    node.store.routes.push(
      makeRoute(upstream.origin, { route: { id: 'route-2', families: ['audio'], priority: 2 } }),
    );
    upstream.play = (_request, count) => (count === 1 ? { status: 500 } : { chunks: [TRANSCRIPT] });
    const { status } = await transcribe([
      ['file', sound(MEGABYTE)],
      ['model', 'swift'],
    ]);
    expect(status).toBe(200);
    expect(upstream.seen.map(({ body }) => body.length)).toEqual([
      upstream.seen[0]?.body.length,
      upstream.seen[0]?.body.length,
    ]);
    expect(node.ledger.charges).toMatchObject([{ routeId: 'route-2' }]);
  });

  it.each(['text/plain; charset=utf-8', 'text/vtt'])(
    'is answered as %s if the client asks for that',
    async (type) => {
      upstream.play = () => ({ headers: { 'content-type': type }, chunks: ['1\nHello\n'] });
      const { headers, text } = await transcribe([
        ['file', sound()],
        ['model', 'swift'],
        ['response_format', 'srt'],
      ]);
      expect({ type: headers['content-type'], text }).toEqual({ type, text: '1\nHello\n' });
      expect(node.ledger.charges).toHaveLength(1);
    },
  );

  it('is answered as a stream if the client asks for that', async () => {
    const chunks = ['delta', 'done'].map((kind) => `data: {"type":"transcript.text.${kind}"}\n\n`);
    upstream.play = () => ({ headers: SSE, chunks });
    const { text } = await transcribe([
      ['file', sound()],
      ['model', 'swift'],
      ['stream', 'true'],
    ]);
    expect(text).toBe(chunks.join(''));
    expect(node.ledger.charges).toMatchObject([{ streamed: true }]);
  });
});

describe('an image edit', () => {
  it('accepts several pictures and a mask', async () => {
    upstream.play = () => ({ chunks: [JSON.stringify({ data: [{ b64_json: 'QQ==' }] })] });
    const { status } = await post('/v1/images/edits', [
      ['image[]', sound(), 'a.png'],
      ['image[]', sound(), 'b.png'],
      ['mask', sound(10), 'm.png'],
      ['prompt', 'Add “ä” and a\nline'],
      ['model', 'swift'],
    ]);
    expect(status).toBe(200);
    expect(await received()).toMatchObject({ prompt: 'Add “ä” and a\r\nline', model: 'vendor-model' });
  });

  it('is refused with more pictures than one price includes', async () => {
    const images = Array.from({ length: 9 }, (): Piece => ['image[]', sound(10), 'a.png']);
    const { status } = await post('/v1/images/edits', [...images, ['prompt', 'p'], ['model', 'swift']]);
    expect(status).toBe(400);
    expectFree();
  });
});

describe('a form', () => {
  const file: Piece = ['file', sound()];
  const model: Piece = ['model', 'swift'];
  it.each<[string, Piece[], number, string]>([
    ['no file', [model], 400, '"file"'],
    ['two files', [file, file, model], 400, 'one file'],
    ['no model', [file], 400, '"model"'],
    ['two models', [file, model, ['model', 'other']], 400, 'comes twice'],
    ['a model in upper case', [file, model, ['MODEL', 'other']], 400, 'lower case'],
    ['a file as model', [file, model, ['model', sound()]], 400, 'ordinary field'],
    ['an unknown model', [file, ['model', 'nope']], 404, 'nope'],
    ['17 parts', [file, model, ...Array.from({ length: 15 }, (): Piece => ['a[]', 'b'])], 400, '16 parts'],
    ['a very long field', [file, model, ['prompt', 'x'.repeat(300_000)]], 400, 'too long'],
    ['60 MiB', [['file', sound(60 * MEGABYTE)], model], 413, '25 MiB'],
  ])('is refused with %s at no cost', async (_name, pieces, expected, words) => {
    const { status, text } = await transcribe(pieces);
    expect({ status, words: text.includes(words) ? words : text }).toEqual({ status: expected, words });
    expect(upstream.seen).toEqual([]);
    expectFree();
  });

  it.each([
    ['without a boundary', 'multipart/form-data;', 'x', 400],
    ['declared as JSON', 'application/json', '{"model":"swift"}', 415],
    ['without a content type', '', 'x', 415],
    ['without any part', 'multipart/form-data; boundary=x', '\u0000\u0001garbage', 400],
    [
      'that ends early',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="a"',
      400,
    ],
    [
      'with a part without a name',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Type: a/b\r\n\r\nx\r\n--x--\r\n',
      400,
    ],
  ])('%s is refused at no cost', async (_name, type, body, expected) => {
    const path = '/v1/audio/transcriptions';
    const { status } = await node.call({ path, body, headers: { 'content-type': type } });
    expect(status).toBe(expected);
    expectFree();
  });

  it('is refused at the size limit if it never ends', async () => {
    const status = await new Promise<number>((resolve) => {
      const headers = {
        authorization: `Bearer ${node.secret}`,
        'content-type': 'multipart/form-data; boundary=x',
        'transfer-encoding': 'chunked',
      };
      const path = '/v1/audio/transcriptions';
      const request = httpRequest({ port: node.port, method: 'POST', path, headers }, (response) => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      });
      request.on('error', () => undefined);
      request.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
      const more = (): void => {
        while (!request.destroyed && request.write(sound(MEGABYTE)));
      };
      request.on('drain', more);
      more();
    });
    expect(status).toBe(413);
    expectFree();
  });

  it('holds no memory after its client has left', async () => {
    const headers = {
      authorization: `Bearer ${node.secret}`,
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': '1000000',
    };
    const path = '/v1/audio/transcriptions';
    const request = httpRequest({ port: node.port, method: 'POST', path, headers });
    request.on('error', () => undefined);
    request.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc');
    await new Promise((resolve) => setTimeout(resolve, 50));
    request.destroy();
    expect(
      (
        await transcribe([
          ['file', sound()],
          ['model', 'swift'],
        ])
      ).status,
    ).toBe(200);
    await until(() => node.ledger.open === 0);
    expect(node.ledger.charges).toHaveLength(1);
  });
});
