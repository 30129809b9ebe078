/** The upstream of the benchmark: answers chat completions at once, whole or in 200 chunks. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CHUNKS, HOLDING_MODEL } from './load.ts';

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'bench',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const usage = { prompt_tokens: 12, completion_tokens: CHUNKS, total_tokens: 12 + CHUNKS };
const usageChunk = `data: ${JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'bench',
  choices: [],
  usage,
})}\n\n`;
const whole = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'bench',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'word '.repeat(CHUNKS) }, finish_reason: 'stop' },
    ],
    usage,
  }),
);
const opening = chunk({ role: 'assistant', content: '' }, null);
const word = chunk({ content: 'word ' }, null);
const ending = chunk({}, 'stop') + usageChunk + 'data: [DONE]\n\n';

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => answer(Buffer.concat(parts).toString(), request, response));
});

function answer(body: string, request: IncomingMessage, response: ServerResponse): void {
  if (!body.includes('"stream":true')) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
    response.end(whole);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(opening + word);
  if (body.includes(`"${HOLDING_MODEL}"`)) return;
  let sent = 1;
  // One write per iteration of the event loop, so that chunks arrive one by one, as from a provider.
  const next = (): void => {
    if (request.destroyed && response.destroyed) return;
    if (sent === CHUNKS) {
      response.end(ending);
      return;
    }
    sent += 1;
    response.write(word);
    setImmediate(next);
  };
  setImmediate(next);
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.({ type: 'ready', port: address.port });
});
process.on('disconnect', () => process.exit(0));
