/** The reference: a bare Fastify that reads the body, forwards it with undici and streams the answer back. */
import Fastify from 'fastify';
import { Pool } from 'undici';

const upstream = new Pool(process.env['UPSTREAM'] ?? '', { pipelining: 1 });
const app = Fastify({ logger: false, bodyLimit: 32 << 20 });
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);

app.post('/*', async (request, reply) => {
  const answer = await upstream.request({
    path: request.url,
    method: 'POST',
    body: request.body as Buffer,
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
  });
  reply.code(answer.statusCode).header('content-type', answer.headers['content-type']);
  return reply.send(answer.body);
});

await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
if (typeof address === 'object' && address) process.send?.({ type: 'ready', port: address.port });
process.on('disconnect', () => process.exit(0));
