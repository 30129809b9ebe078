/** Attacks at the GraphQL API and at WebSockets. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { attackerAddress, inLoops } from './attack.ts';
import type { Assault, Attack } from './attack.ts';
import { sendRequest } from './raw.ts';

const HELD_MS = 10_000;
const SUBSCRIPTIONS = 200;
const PASSWORD = 'wrong horse battery';

const signIns: Attack = {
  name: 'sign-ins',
  run: (assault) =>
    inLoops(assault, 32, async (loop) => {
      const email = (index: number): string =>
        `stranger-${loop}-${index}-${assault.random.between(0, 1_000_000)}@example.com`;
      const field = (index: number): string =>
        `s${index}: signIn(input: {email: "${email(index)}", password: "${PASSWORD}"}) { __typename }`;
      // One in four hides many of them in a fragment.
      const fields = Array.from({ length: 30 }, (_, index) => field(index)).join(' ');
      const query =
        loop % 4 === 0
          ? `mutation { ...many } fragment many on Mutation { ${fields} }`
          : `mutation { ${field(0)} }`;
      const { controlPort: port } = assault.target;
      await sendRequest(assault, { port, from: loop, path: '/graphql', body: { query } });
    }),
};

const INTROSPECTION = 'fields { name args { name type { name ofType { name ofType { name } } } } }';
const MODEL = 'id name description groupPrices { group price }';

const heavyQueries: Attack = {
  name: 'heavy GraphQL queries',
  run: (assault) => {
    const aliases = (count: number, field: string): string =>
      Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');
    const queries: [string, ...string[]] = [
      `{ ${aliases(19, 'catalog(first: 100) { nodes { id name } }')} }`,
      `{ __schema { types { name ${INTROSPECTION} } } }`,
      `{ viewer ${'{ wallet { owner '.repeat(40)} { id } ${'} }'.repeat(40)} }`,
      `{ ${'...f '.repeat(800)} } fragment f on Query { catalog { nodes { ${MODEL} } } }`,
      `{ ${aliases(20, 'viewer { usage(first: 100) { nodes { id } } wallet { id } }')} }`,
      `{ ${'viewer { id } '.repeat(1_200)} }`,
      `query (${Array.from({ length: 700 }, (_, index) => `$v${index}: Int`).join(' ')}) { __typename }`,
    ];
    return inLoops(assault, 16, async (loop) => {
      const { controlPort: port, brokeCookie } = assault.target;
      const headers: Record<string, string> = loop % 2 === 0 ? { cookie: brokeCookie } : {};
      const body = { query: assault.random.pick(queries) };
      await sendRequest(assault, { port, from: loop, path: '/graphql', headers, body });
    });
  },
};

/** Opens a GraphQL socket, and sends the messages after it is acknowledged. Holds it for a while. */
async function holdSocket(
  { target, signal, tally }: Assault,
  {
    from,
    cookie,
    messages,
    init = '{"type":"connection_init"}',
  }: { from: number; cookie: string; messages: string[]; init?: string },
): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${target.controlPort}/graphql`, 'graphql-transport-ws', {
    localAddress: attackerAddress(from),
    ...(cookie && { headers: { cookie } }),
  });
  let state = 'refused';
  socket.on('error', () => undefined);
  socket.on('open', () => {
    state = 'closed';
    socket.send(init);
  });
  socket.on('message', (data: Buffer) => {
    if (!data.toString().includes('connection_ack')) return;
    state = 'held';
    for (const message of messages) socket.send(message);
  });
  const until = Date.now() + HELD_MS;
  while (socket.readyState <= WebSocket.OPEN && !signal.aborted && Date.now() < until) await sleep(50);
  tally.ended(state);
  socket.terminate();
}

const subscriptions: Attack = {
  name: 'GraphQL sockets and subscriptions',
  run: (assault) => {
    const messages = Array.from({ length: SUBSCRIPTIONS }, (_, index) =>
      JSON.stringify({
        type: 'subscribe',
        id: String(index),
        payload: { query: 'subscription { walletUpdated { id balance } }' },
      }),
    );
    const { brokeCookie, paidCookie } = assault.target;
    return inLoops(assault, 1_000, (loop) =>
      holdSocket(assault, {
        from: loop,
        cookie: loop % 10 === 0 ? brokeCookie : loop % 10 === 1 ? paidCookie : '',
        messages,
      }),
    );
  },
};

/** Messages that are small as text and large in memory, which a socket keeps while it is open. */
const keptMessages: Attack = {
  name: 'GraphQL sockets that keep large messages',
  run: (assault) => {
    const objects = (bytes: number): object[] => Array.from({ length: bytes / 3 }, () => ({}));
    const init = JSON.stringify({ type: 'connection_init', payload: { objects: objects(95_000) } });
    const query = 'subscription { walletUpdated { id balance } }';
    const messages = Array.from({ length: 20 }, (_, index) =>
      JSON.stringify({
        ...{ type: 'subscribe', id: String(index) },
        payload: { query, variables: { objects: objects(95_000) } },
      }),
    );
    const { brokeCookie } = assault.target;
    return inLoops(assault, 200, (loop) =>
      holdSocket(assault, {
        from: loop,
        cookie: brokeCookie,
        ...(loop % 2 ? { init, messages: [] } : { messages }),
      }),
    );
  },
};

/** Sockets that close while their caller is identified, or while their subscription begins. */
const earlyLeavers: Attack = {
  name: 'GraphQL sockets that close early',
  run: (assault) => {
    const subscribe = {
      type: 'subscribe',
      id: '1',
      payload: { query: 'subscription { walletUpdated { id } }' },
    };
    return inLoops(assault, 32, async (loop) => {
      const { controlPort, brokeCookie } = assault.target;
      const url = `ws://127.0.0.1:${controlPort}/graphql`;
      const localAddress = attackerAddress(loop);
      const headers = { cookie: brokeCookie };
      const socket = new WebSocket(url, 'graphql-transport-ws', { localAddress, headers });
      await new Promise<void>((resolve) => {
        socket.on('error', () => resolve());
        socket.on('open', () => {
          socket.send('{"type":"connection_init"}', () => loop % 2 === 0 && resolve());
        });
        socket.on('message', () => socket.send(JSON.stringify(subscribe), () => resolve()));
        socket.on('close', () => resolve());
      });
      assault.tally.ended(socket.readyState === WebSocket.OPEN ? 'left' : 'refused');
      socket.terminate();
    });
  },
};

/** Messages that begin and never end, in fragments of one byte: each fragment costs memory. */
const fragments: Attack = {
  name: 'WebSocket messages of 1-byte fragments',
  run: (assault) => {
    const { controlPort, nodePort, paidKey } = assault.target;
    const kinds: [
      { port: number; path: string; headers: string },
      ...{ port: number; path: string; headers: string }[],
    ] = [
      { port: controlPort, path: '/graphql', headers: 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n' },
      { port: nodePort, path: '/v1/realtime?model=swift', headers: `Authorization: Bearer ${paidKey}\r\n` },
    ];
    return inLoops(assault, 16, (loop) =>
      sendFragments(assault, { ...(kinds[loop % 2] ?? kinds[0]), from: loop }),
    );
  },
};

const MASK = [0, 0, 0, 0];
const FIRST_FRAGMENT = Buffer.from([0x01, 0x81, ...MASK, 0x20]);
const CONTINUATIONS = Buffer.concat(
  Array.from({ length: 10_000 }, () => Buffer.from([0x00, 0x81, ...MASK, 0x20])),
);
const BLOCKS_MAX = 2_000;

async function sendFragments(
  { signal, tally }: Assault,
  { port, path, headers, from }: { port: number; path: string; headers: string; from: number },
): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: attackerAddress(from) });
  let accepted = false;
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    accepted ||= data.toString('latin1').startsWith('HTTP/1.1 101');
  });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  for (let waited = 0; !accepted && !socket.destroyed && waited < 100; waited += 1) await sleep(20);
  if (accepted) socket.write(FIRST_FRAGMENT);
  for (let block = 0; accepted && block < BLOCKS_MAX && !socket.destroyed && !signal.aborted; block += 1) {
    await new Promise<void>((resolve) => {
      socket.once('close', resolve);
      socket.write(CONTINUATIONS, () => {
        socket.off('close', resolve);
        resolve();
      });
    });
    tally.sent(CONTINUATIONS.length);
    await sleep(5);
  }
  tally.ended(!accepted ? 'refused' : socket.destroyed ? 'closed' : 'held');
  socket.destroy();
}

/** Attacks at the GraphQL API, and at the WebSockets of both planes. */
export const GRAPHQL_ATTACKS: readonly Attack[] = [
  signIns,
  heavyQueries,
  subscriptions,
  keptMessages,
  earlyLeavers,
  fragments,
];
