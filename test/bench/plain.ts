/** The lower bound: node:http receives, undici sends, bytes are piped. No parsing, no billing. */
import { createServer } from 'node:http';
import { Pool } from 'undici';

const upstream = new Pool(process.env['UPSTREAM'] ?? '', { pipelining: 1 });

// Like the upstream of the benchmark, it closes no idle connection.
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  upstream.stream(
    {
      path: request.url ?? '/',
      method: 'POST',
      body: request,
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    },
    ({ statusCode, headers }) => {
      response.writeHead(statusCode, { 'content-type': String(headers['content-type']) });
      return response;
    },
    () => response.destroy(),
  );
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.({ type: 'ready', port: address.port });
});
process.on('disconnect', () => process.exit(0));
