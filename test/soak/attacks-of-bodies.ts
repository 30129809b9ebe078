/** Attacks with bodies, headers and connections: tiny chunks, sizes, slowness, floods, unread answers. */
import { inLoops } from './attack.ts';
import type { Assault, Attack } from './attack.ts';
import { bearer, sendRaw, sendRequest } from './raw.ts';
import type { RawRequest } from './raw.ts';

const KILOBYTE = 1_024;
/** Ten thousand chunks of one byte, white space that JSON allows. */
const TINY_CHUNKS = Buffer.from('1\r\n \r\n'.repeat(10_000));
const LARGE_BLOCK = Buffer.alloc(64 * KILOBYTE, ' ');
const LARGE_BODY_BYTES = 30 * 1_024 * KILOBYTE;
const SECOND_MS = 1_000;

/** The start of a POST with a JSON body. */
function post(path: string, headers: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n`;
}

const CHAT = '/v1/chat/completions';
const key = (value: string): string => `Authorization: Bearer ${value}\r\n`;

/** Every way in for a body: an anonymous caller, a made-up session, a free account, a key without money. */
function entrances({ target }: Assault): { port: number; path: string; who: string }[] {
  const control = { port: target.controlPort, path: '/graphql' };
  const node = { port: target.nodePort, path: CHAT };
  return [
    { ...control, who: '' },
    { ...control, who: 'Cookie: session=made-up\r\n' },
    { ...control, who: `Cookie: ${target.brokeCookie}\r\n` },
    { ...node, who: '' },
    { ...node, who: key(target.brokeKey) },
    { ...node, who: key(target.paidKey) },
  ];
}

const tinyChunks: Attack = {
  name: 'bodies of 1-byte chunks',
  run: (assault) =>
    inLoops(assault, 24, async (loop) => {
      const list = entrances(assault);
      const { port, path, who } = list[loop % list.length] ?? { port: 0, path: '', who: '' };
      const head = post(path, `${who}Transfer-Encoding: chunked\r\n`);
      await sendRaw(assault, { port, from: loop, head, block: TINY_CHUNKS });
    }),
};

const largeBodies: Attack = {
  name: 'large bodies without money',
  run: (assault) =>
    inLoops(assault, 48, async (loop) => {
      const list = entrances(assault).filter(({ who }) => !who.includes(assault.target.paidKey));
      const { port, path, who } = list[loop % list.length] ?? { port: 0, path: '', who: '' };
      const length = port === assault.target.controlPort ? 2_000 * KILOBYTE : LARGE_BODY_BYTES;
      const head = post(path, `${who}Content-Length: ${length}\r\n`);
      // The last block is never sent.
      const blocks = Math.floor(length / LARGE_BLOCK.length) - 1;
      await sendRaw(assault, { port, from: loop, head, block: LARGE_BLOCK, blocks, pauseMs: 2 });
    }),
};

const slowBodies: Attack = {
  name: 'slow headers and bodies',
  run: (assault) =>
    inLoops(assault, 240, async (loop) => {
      const list = entrances(assault);
      const { port, path, who } = list[loop % list.length] ?? { port: 0, path: '', who: '' };
      const inHeaders = loop % 2 === 0;
      const head = inHeaders
        ? `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Slow: `
        : post(path, `${who}Content-Length: ${60 * KILOBYTE}\r\n`);
      await sendRaw(assault, { port, from: loop, head, block: ' ', pauseMs: SECOND_MS });
    }),
};

/** Answers of some kilobytes each that the attacker asks for on one connection and does not read. */
const unread: Attack = {
  name: 'answers that are not read',
  run: (assault) => {
    const { controlPort, nodePort, brokeKey } = assault.target;
    const kinds: Pick<RawRequest, 'port' | 'head'>[] = [
      { port: controlPort, head: 'GET /sign-in HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n' },
      { port: controlPort, head: 'GET /schema.graphql HTTP/1.1\r\nHost: localhost\r\n\r\n' },
      { port: nodePort, head: `GET /v1/models HTTP/1.1\r\nHost: localhost\r\n${key(brokeKey)}\r\n` },
    ];
    return inLoops(assault, 30, async (loop) => {
      const { port, head } = kinds[loop % kinds.length] ?? { port: 0, head: '' };
      const block = head.repeat(20);
      await sendRaw(assault, { port, from: loop, head, block, blocks: 50, pauseMs: 20, deaf: true });
    });
  },
};

/** Opens connections and keeps them: idle, before and after the first bytes, and as failed upgrades. */
const connections: Attack = {
  name: 'connections of strangers',
  run: (assault) => {
    const { controlPort, nodePort } = assault.target;
    const upgrade = (path: string): string =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
      'Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';
    const kinds: Pick<RawRequest, 'port' | 'head'>[] = [
      { port: controlPort, head: 'G' },
      { port: controlPort, head: upgrade('/graphql') },
      { port: nodePort, head: 'G' },
      { port: nodePort, head: upgrade('/v1/realtime?model=swift') },
    ];
    return inLoops(assault, 2_400, async (loop) => {
      const { port, head } = kinds[loop % kinds.length] ?? { port: 0, head: '' };
      // Two addresses: fewer than there are limits per address for.
      const block = { block: '', pauseMs: SECOND_MS };
      await sendRaw(assault, { port, from: loop % 2, head, ...block });
    });
  },
};

const refusals: Attack = {
  name: 'refusals of a key without money',
  run: (assault) =>
    inLoops(assault, 32, async (loop) => {
      const { nodePort: port, brokeKey } = assault.target;
      const body = { model: 'budget', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
      const headers = bearer(brokeKey);
      await sendRequest(assault, { port, from: loop, path: CHAT, headers, body });
    }),
};

/** Each of these requests reserves and releases its key at the control plane. */
const idempotencyKeys: Attack = {
  name: 'Idempotency-Keys of a key without money',
  run: (assault) =>
    inLoops(assault, 64, async (loop) => {
      const { nodePort: port, brokeKey } = assault.target;
      const body = { model: 'budget', messages: [{ role: 'user', content: 'Hi' }] };
      const unique = `${loop}-${assault.random.between(0, 1_000_000_000)}`;
      const headers = { ...bearer(brokeKey), 'idempotency-key': unique };
      await sendRequest(assault, { port, from: loop, path: CHAT, headers, body });
    }),
};

const badKeys: Attack = {
  name: 'unknown keys',
  run: (assault) =>
    inLoops(assault, 32, async (loop) => {
      const digits = Array.from({ length: 48 }, () => assault.random.between(0, 9)).join('');
      const headers = bearer(`sk-${digits}`);
      const body = { model: 'budget', messages: [] };
      await sendRequest(assault, { port: assault.target.nodePort, from: loop, path: CHAT, headers, body });
    }),
};

/** A customer with money who sends more requests at once than any limit allows. */
const greedy: Attack = {
  name: 'a greedy customer with money',
  run: (assault) =>
    inLoops(assault, 200, async (loop) => {
      const { nodePort: port, paidKey } = assault.target;
      const body = { model: 'budget', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
      await sendRequest(assault, { port, from: loop, path: CHAT, headers: bearer(paidKey), body });
    }),
};

/** JSON that is small as text and large in memory, or that two parsers read differently. */
const json: Attack = {
  name: 'duplicate and deep JSON',
  run: (assault) => {
    const { nodePort, controlPort, paidKey, brokeCookie } = assault.target;
    const names = Array.from({ length: 900_000 }, (_, at) => `"m${at}":1`).join(',');
    const texts = [
      `{"model":"budget","messages":${'['.repeat(200_000)}`,
      `{"model":"budget","messages":[${'{},'.repeat(300_000)}{}]}`,
      `{"model":"budget","messages":[${'{},'.repeat(1_300_000)}{}]}`,
      `{"model":"budget",${'"a":1,'.repeat(150_000)}"messages":[]}`,
      `{"model":"budget","messages":[{"role":"user",${'"content":"",'.repeat(70_000)}"content":""}]}`,
      `{"model":"budget",${names}}`,
      `{"model":"budget","messages":[{${names}}]}`,
    ];
    return inLoops(assault, 8, async (loop) => {
      const body = assault.random.pick([texts[0] ?? '', ...texts]);
      const isNode = loop % 2 === 0;
      await sendRequest(assault, {
        ...{ from: loop, body: isNode ? body : `{"query":"{ __typename }","variables":${body}}` },
        ...(isNode
          ? { port: nodePort, path: CHAT, headers: bearer(paidKey) }
          : { port: controlPort, path: '/graphql', headers: { cookie: brokeCookie } }),
      });
    });
  },
};

/** Attacks over HTTP/1.1 alone. */
export const BODY_ATTACKS: readonly Attack[] = [
  tinyChunks,
  largeBodies,
  slowBodies,
  connections,
  unread,
  refusals,
  idempotencyKeys,
  badKeys,
  greedy,
];

/** Attacks with the content of bodies. */
export const JSON_ATTACKS: readonly Attack[] = [json];
