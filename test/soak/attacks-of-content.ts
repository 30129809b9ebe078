/** Attacks with compressed bodies, forms, ids of stored objects, signatures, and pipelined requests. */
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { inLoops } from './attack.ts';
import type { Attack } from './attack.ts';
import { bearer, sendRaw, sendRequest } from './raw.ts';

const MEGABYTE = 1_024 * 1_024;
const CHAT = '/v1/chat/completions';
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** A chat request of about this size whose text repeats: it compresses about as well as the node permits. */
function repetitive(bytes: number): string {
  const line = Array.from({ length: 300 }, (_, at) => String.fromCharCode(97 + ((at * 7) % 26))).join('');
  return JSON.stringify({ model: 'budget', messages: [{ role: 'user', content: line.repeat(bytes / 300) }] });
}

/** Compressed bodies by their encoding. They are made once, when the attack begins. */
function compressedBodies(): { encoding: string; body: Buffer }[] {
  const spaces = Buffer.alloc(31 * MEGABYTE, ' ');
  const chat = Buffer.from(repetitive(30 * MEGABYTE));
  const valid = gzipSync(chat);
  return [
    { encoding: 'gzip', body: gzipSync(spaces) },
    { encoding: 'br', body: brotliCompressSync(spaces, QUICK) },
    { encoding: 'deflate', body: deflateSync(spaces) },
    { encoding: 'gzip', body: valid },
    { encoding: 'br', body: brotliCompressSync(chat, QUICK) },
    { encoding: 'gzip', body: valid.subarray(0, valid.length - 100) },
    { encoding: 'gzip', body: Buffer.concat(Array.from({ length: 50_000 }, () => gzipSync(''))) },
    { encoding: 'gzip, gzip', body: gzipSync(valid) },
    { encoding: 'br', body: Buffer.alloc(MEGABYTE, 0x55) },
  ];
}

const compressed: Attack = {
  name: 'compressed bodies',
  run: (assault) => {
    const bodies = compressedBodies();
    const { nodePort: port, brokeKey, paidKey } = assault.target;
    return inLoops(assault, 24, async (loop) => {
      const { encoding = '', body } = bodies[assault.random.between(0, bodies.length - 1)] ?? {};
      const headers = { ...bearer(loop % 2 === 0 ? brokeKey : paidKey), 'content-encoding': encoding };
      await sendRequest(assault, { port, from: loop, path: CHAT, headers, ...(body && { body }) });
    });
  },
};

const BOUNDARY = 'boundary';
const part = (name: string, head: string, value: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${head}\r\n\r\n${value}\r\n`;

/** Forms that are small and take long, or that have more parts, heads and names than a form needs. */
const FORMS: readonly string[] = [
  part('a', '', 'b').repeat(100_000),
  part('a', `\r\nX-Long: ${'x'.repeat(200_000)}`, 'b'),
  part('a', '\r\nX-Many: x'.repeat(20_000), 'b'),
  `${part('model', '', 'swift')}${part('file', '; filename="a.wav"', '\r\n--boundar'.repeat(200_000))}`,
  `${part('model', '', 'swift')}${part('prompt', '', 'p'.repeat(20 * MEGABYTE))}`,
  `${part('model', '', 'swift')}${part('x'.repeat(7_000), '', 'b').repeat(2_000)}`,
  '-'.repeat(5 * MEGABYTE),
  `--${BOUNDARY}`.repeat(500_000),
];

const forms: Attack = {
  name: 'malformed forms',
  run: (assault) =>
    inLoops(assault, 24, async (loop) => {
      const { nodePort: port, brokeKey, paidKey } = assault.target;
      const body = assault.random.pick([FORMS[0] ?? '', ...FORMS]);
      const key = bearer(loop % 2 === 0 ? brokeKey : paidKey);
      const headers = { ...key, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
      await sendRequest(assault, { port, from: loop, path: '/v1/audio/transcriptions', headers, body });
    }),
};

/** Ids that no response and no conversation has, in paths and in bodies. */
const storedObjects: Attack = {
  name: 'ids of stored objects',
  run: (assault) =>
    inLoops(assault, 32, async (loop) => {
      const { nodePort: port, brokeKey, paidKey } = assault.target;
      const length = assault.random.between(1, 6_000);
      const id = Array.from({ length }, () => assault.random.between(0, 9)).join('');
      const headers = bearer(loop % 2 === 0 ? brokeKey : paidKey);
      const paths: [string, ...string[]] = [
        `/v1/responses/resp_${id}`,
        `/v1/conversations/conv_${id}/items`,
        `/v1beta/cachedContents/${id}`,
      ];
      const isRead = assault.random.between(0, 1) === 0;
      const body = { model: 'budget', input: 'Hi', previous_response_id: `resp_${id}` };
      const request = isRead
        ? { path: assault.random.pick(paths) }
        : { path: '/v1/responses', body: loop % 3 === 0 ? { ...body, conversation: `conv_${id}` } : body };
      await sendRequest(assault, { port, from: loop, headers, ...request });
    }),
};

/** Events of the card processor with a made-up signature. */
const webhooks: Attack = {
  name: 'webhooks without a valid signature',
  run: (assault) =>
    inLoops(assault, 64, async (loop) => {
      const { controlPort: port } = assault.target;
      const time = Math.floor(Date.now() / 1_000);
      const signature = `t=${time}${`,v1=${'a'.repeat(64)}`.repeat(loop % 2 === 0 ? 1 : 50)}`;
      const headers = { 'stripe-signature': signature };
      const body = { id: `evt_${loop}`, type: 'checkout.session.completed', filler: ' '.repeat(50_000) };
      await sendRequest(assault, { port, from: loop, path: '/webhooks/stripe', headers, body });
    }),
};

/** Thousands of requests on one connection, sent before their answers are read. */
const pipelines: Attack = {
  name: 'pipelined requests',
  run: (assault) => {
    const { controlPort, nodePort, brokeKey } = assault.target;
    const chat = JSON.stringify({ model: 'budget', messages: [{ role: 'user', content: 'Hi' }] });
    const query = JSON.stringify({ query: '{ viewer { id } }' });
    const post = (path: string, more: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const kinds: { port: number; head: string }[] = [
      { port: nodePort, head: post(CHAT, `Authorization: Bearer ${brokeKey}\r\n`, chat) },
      { port: nodePort, head: 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n' },
      { port: controlPort, head: post('/graphql', '', query) },
      { port: controlPort, head: 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n' },
    ];
    return inLoops(assault, 24, async (loop) => {
      const { port, head } = kinds[loop % kinds.length] ?? { port: 0, head: '' };
      const block = head.repeat(100);
      await sendRaw(assault, { port, from: loop, head, block, blocks: 100, pauseMs: 20 });
    });
  },
};

/** Streams that a customer with money pays for and does not read. */
const unreadStreams: Attack = {
  name: 'streams that are not read',
  run: (assault) => {
    const { nodePort: port, paidKey } = assault.target;
    const messages = [{ role: 'user', content: 'Hi' }];
    const body = JSON.stringify({ model: 'budget', stream: true, messages });
    const head =
      `POST ${CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${paidKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    return inLoops(assault, 80, (loop) => sendRaw(assault, { port, from: loop, head, deaf: true }));
  },
};

/** Attacks with the content of requests, and with its order on a connection. */
export const CONTENT_ATTACKS: readonly Attack[] = [
  compressed,
  forms,
  storedObjects,
  webhooks,
  pipelines,
  unreadStreams,
];
