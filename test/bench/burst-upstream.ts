/**
 * The upstream of the benchmark of workers. It sends a whole streamed answer at once, which costs it little,
 * and the node that translates its chunks much.
 */
import { createServer } from 'node:http';

const CHUNKS = 400;

const frame = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    ...{ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'bench' },
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const answer = Buffer.from(
  frame({ role: 'assistant', content: '' }, null) +
    frame({ content: 'word ' }, null).repeat(CHUNKS) +
    `${frame({}, 'stop')}data: [DONE]\n\n`,
);

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': answer.length });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.({ type: 'ready', port: address.port });
});
process.on('disconnect', () => process.exit(0));
