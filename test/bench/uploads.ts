/**
 * `npm run bench:uploads`: measures the memory of one node while it receives many large recordings at once,
 * and the time to the first byte of speech. Prints both and writes `.bench/uploads.json`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MEGABYTE = 1024 * 1024;
const UPLOADS = Number(process.env['BENCH_UPLOADS'] ?? 200);
const FILE_BYTES = 25 * MEGABYTE - 1024;
const CHUNK = Buffer.alloc(64 * 1024, 7);
const SPEECH_CHUNKS = 20;
const SPEECH_GAP_MS = 50;
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
const HEAD = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
const TAIL = '\r\n--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nswift\r\n--x--\r\n';

interface Started {
  port: number;
  secrets: string[];
}

let received = 0;
let speechEndedAt = 0;
const upstream = createServer((incoming, response) => {
  incoming.on('data', (chunk: Buffer) => (received += chunk.length));
  incoming.on('end', () => void answer(incoming.url ?? '', response));
});

async function answer(path: string, response: ServerResponse): Promise<void> {
  if (!path.endsWith('/speech')) {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Hello"}');
    return;
  }
  response.writeHead(200, { 'content-type': 'audio/mpeg' });
  for (let index = 0; index < SPEECH_CHUNKS; index += 1) {
    response.write(Buffer.alloc(4096, index));
    await sleep(SPEECH_GAP_MS);
  }
  response.end();
  speechEndedAt = performance.now();
}

/**
 * Sends a form with the file before the model, as the official SDK does, without keeping the file in memory.
 */
async function upload({ port, secrets }: Started, index: number): Promise<number> {
  const outgoing = request({
    port,
    method: 'POST',
    path: '/v1/audio/transcriptions',
    agent: false,
    headers: {
      authorization: `Bearer ${secrets[index]}`,
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': HEAD.length + FILE_BYTES + TAIL.length,
    },
  });
  const answered = once(outgoing, 'response');
  outgoing.write(HEAD);
  for (let left = FILE_BYTES; left > 0; left -= CHUNK.length) {
    const piece = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK;
    if (!outgoing.write(piece)) await once(outgoing, 'drain');
  }
  outgoing.end(TAIL);
  const [response] = (await answered) as [import('node:http').IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}

/** Time to the first byte of speech and to the end of the upstream's answer, in ms after the request. */
async function speech({ port, secrets }: Started): Promise<{ firstMs: number; upstreamMs: number }> {
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${secrets[0]}`, 'content-type': 'application/json' };
  const outgoing = request({ port, method: 'POST', path: '/v1/audio/speech', headers });
  outgoing.end('{"model":"swift","input":"Hi","voice":"alloy"}');
  const [response] = (await once(outgoing, 'response')) as [import('node:http').IncomingMessage];
  await once(response, 'data');
  const firstMs = performance.now() - startedAt;
  response.resume();
  await once(response, 'end');
  return { firstMs, upstreamMs: speechEndedAt - startedAt };
}

const megabytes = (bytes: number): number => Math.round(bytes / MEGABYTE);

await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
const child = fork(join(import.meta.dirname, 'upload-node.ts'), [origin, String(UPLOADS)]);
const [started] = (await once(child, 'message')) as [Started];
const ask = async (): Promise<{ peak: number; charges: number }> => {
  child.send('peak');
  const [message] = (await once(child, 'message')) as [{ peak: number; charges: number }];
  return message;
};
await sleep(500);
const idle = (await ask()).peak;
const { firstMs, upstreamMs } = await speech(started);
const startedAt = performance.now();
const statuses = await Promise.all(started.secrets.map((_, index) => upload(started, index)));
const seconds = (performance.now() - startedAt) / 1_000;
const { peak, charges } = await ask();
const result = {
  uploads: UPLOADS,
  megabytesEach: megabytes(FILE_BYTES),
  succeeded: statuses.filter((status) => status === 200).length,
  charges: charges - 1,
  upstreamMegabytes: megabytes(received),
  seconds: Number(seconds.toFixed(1)),
  idleMegabytes: megabytes(idle),
  peakMegabytes: megabytes(peak),
  speechFirstByteMs: Math.round(firstMs),
  speechUpstreamEndMs: Math.round(upstreamMs),
};
mkdirSync(OUTPUT, { recursive: true });
writeFileSync(join(OUTPUT, 'uploads.json'), `${JSON.stringify(result, undefined, 2)}\n`);
process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
child.disconnect();
upstream.closeAllConnections();
upstream.close();
