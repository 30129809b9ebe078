/**
 * The upstream of the benchmark: answers in all four formats, at once, paced, or with a stream that stays
 * open.
 */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { DIALECTS, formatOf } from './formats.ts';
import type { Format } from './formats.ts';
import { CHUNKS, HOLDING_MODEL, PACED_MODEL, PACE_MS } from './workloads.ts';

const wholes = Object.fromEntries(
  Object.entries(DIALECTS).map(([format, { whole }]) => [format, Buffer.from(JSON.stringify(whole))]),
);

/**
 * Never closes an idle connection. A client that has no time to notice the end of one would send its next
 * request there, and a reference that does not repeat requests would answer with an error.
 */
const OPTIONS = { keepAliveTimeout: 0 };

const server = createServer(OPTIONS, (request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => answer(request.url ?? '/', Buffer.concat(parts).toString('latin1'), response));
});

function answer(path: string, body: string, response: ServerResponse): void {
  const format = formatOf(path);
  const isStream = body.includes('"stream":true') || path.includes(':streamGenerateContent');
  if (isStream) return stream(format, body, response);
  const whole = wholes[format] ?? Buffer.alloc(0);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
  response.end(whole);
}

function stream(format: Format, body: string, response: ServerResponse): void {
  const { opening, word, ending } = DIALECTS[format];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(opening + word);
  if (body.includes(`"${HOLDING_MODEL}"`)) return;
  const isPaced = body.includes(`"${PACED_MODEL}"`);
  let sent = 1;
  // Chunks arrive one by one, as from a provider: at a pace, or one per iteration of the event loop.
  const next = (): void => {
    if (response.destroyed) return;
    if (sent === CHUNKS) return void response.end(ending);
    sent += 1;
    response.write(word);
    if (isPaced) setTimeout(next, PACE_MS);
    else setImmediate(next);
  };
  if (isPaced) setTimeout(next, PACE_MS);
  else setImmediate(next);
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.({ type: 'ready', port: address.port });
});
process.on('disconnect', () => process.exit(0));
