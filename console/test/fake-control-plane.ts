/** A control plane for the console's tests: the real schema with sample data, on a free port, with the real policy headers. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buildSchema, graphql } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import {
  entries,
  groupRatios,
  makeKey,
  makeKeys,
  makeRow,
  models,
  policy,
  type SampleKey,
} from './sample.ts';

export interface Fake {
  url: string;
  /** What the service knows; tests change it between pages. */
  state: { signedIn: boolean; keys: SampleKey[]; broken: boolean };
  /** Sends one new line of usage to whoever listens. */
  addUsage(): void;
  close(): Promise<void>;
}

/** The secret that every reveal answers. */
export const SECRET = `sk-${'Wq8ZrT4nVx02LmKc7HyBfJ5dPsEa91GuXtQo3RiNb6vYhC0k'}`;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

type Input<Value> = { input: Value };

/** Starts it over the built console in `folder`. */
export async function startFake(folder: string, schemaText: string): Promise<Fake> {
  const schema = buildSchema(schemaText);
  const state: Fake['state'] = { signedIn: true, keys: makeKeys(), broken: false };
  const waiting = new Set<(row: ReturnType<typeof makeRow>) => void>();
  let added = 1_000;
  const root = { ...queries(state), ...mutations(state) };
  const server = createServer((request, response) => {
    response.setHeader('content-security-policy', POLICY);
    if (request.url === '/graphql') void answer(request, response);
    else file(folder, request, response);
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString());
    response.setHeader('content-type', 'application/json');
    if (state.broken) return void response.end(JSON.stringify({ errors: [BROKEN] }));
    response.end(
      JSON.stringify(await graphql({ schema, source: query, variableValues: variables, rootValue: root })),
    );
  }
  const sockets = new WebSocketServer({ server, path: '/graphql' });
  const live = useServer({ schema, roots: { subscription: subscriptions(waiting) } }, sockets);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    state,
    addUsage: () => {
      for (const send of waiting) send({ ...makeRow(added++), createdAt: new Date().toISOString() });
    },
    close: async () => {
      await live.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

const BROKEN = {
  message: 'The service failed.',
  extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'req_01KAGX9B2C' },
};

function connection<Row>(rows: readonly Row[], first: number, after: string | null) {
  const start = after === null ? 0 : Number(after);
  const nodes = rows.slice(start, start + first);
  const end = start + nodes.length;
  return {
    nodes,
    edges: nodes.map((node, index) => ({ node, cursor: String(start + index + 1) })),
    totalCount: rows.length,
    pageInfo: {
      hasNextPage: end < rows.length,
      hasPreviousPage: start > 0,
      startCursor: String(start),
      endCursor: String(end),
    },
  };
}

interface Page {
  first: number;
  after?: string | null;
}

function queries(state: Fake['state']) {
  const usage = Array.from({ length: 120 }, (_, index) => makeRow(index));
  const wallet = {
    __typename: 'Wallet',
    id: 'wal_1',
    cash: '211.50',
    gift: '10.00',
    held: '0.90',
    available: '221.50',
    balance: '222.40',
    receivable: '0',
    frozen: false,
    currency: 'USD',
    leases: [],
    ledger: ({ first, after, kinds }: Page & { kinds?: string[] | null }) =>
      connection(
        entries.filter(({ kind }) => kinds?.includes(kind) ?? true),
        first,
        after ?? null,
      ),
  };
  const viewer = {
    __typename: 'User',
    id: 'usr_1',
    email: 'mara@lindgren.dev',
    locale: 'en',
    timeZone: 'UTC',
    role: 'USER',
    state: 'ACTIVE',
    allowedGroups: ['DEFAULT', 'VIP'],
    mustAcceptPolicy: null,
    wallet,
    apiKeys: ({
      first,
      after,
      filter,
    }: Page & { filter?: { search?: string; states?: string[]; groups?: string[] } }) =>
      connection(
        state.keys.filter(
          ({ name, state: keyState, group }) =>
            name.toLowerCase().includes(filter?.search?.toLowerCase() ?? '') &&
            (filter?.states?.includes(keyState) ?? true) &&
            (filter?.groups?.includes(group) ?? true),
        ),
        first,
        after ?? null,
      ),
    usage: ({
      first,
      after,
      filter,
    }: Page & { filter?: { statuses?: string[]; modelNames?: string[]; requestId?: string } }) =>
      connection(
        usage.filter(
          ({ status, modelName, requestId }) =>
            (filter?.statuses?.includes(status) ?? true) &&
            (filter?.modelNames?.includes(modelName) ?? true) &&
            (filter?.requestId === undefined || filter.requestId === requestId),
        ),
        first,
        after ?? null,
      ),
  };
  return {
    viewer: () => (state.signedIn ? viewer : null),
    baseAddress: () => 'https://gateway.example',
    catalog: ({ first, after }: Page) => connection(models, first, after ?? null),
    groupRatios: () => groupRatios,
    privacyPolicy: () => policy,
    signInOptions: () => ({
      password: true,
      passkeys: false,
      oidcProviders: [],
      registrationOpen: true,
      currentPolicy: policy,
    }),
  };
}

function mutations(state: Fake['state']) {
  const find = (id: string) => {
    const key = state.keys.find((candidate) => candidate.id === id);
    if (!key) throw new Error('no such key');
    return key;
  };
  const done = (apiKey: SampleKey) => ({ apiKey, userErrors: [], replayed: false });
  const enter = () => {
    state.signedIn = true;
    return {
      viewer: { __typename: 'User', id: 'usr_1' },
      secondFactorRequired: false,
      verificationRequired: false,
      userErrors: [],
    };
  };
  const refused = {
    viewer: null,
    secondFactorRequired: false,
    userErrors: [{ code: 'CREDENTIALS_INVALID', message: 'Wrong.', field: null }],
  };
  return {
    signIn: ({ input }: Input<{ password: string }>) => (input.password === 'wrong' ? refused : enter()),
    register: enter,
    adminClaim: enter,
    signOut: () => {
      state.signedIn = false;
      return { ok: true };
    },
    apiKeyCreate: ({ input }: Input<{ name: string; group: string }>) => {
      const more = {
        state: 'DISABLED',
        disabledReason: 'NOT_REVEALED',
        revealedAt: null,
        group: input.group,
      };
      state.keys = [
        makeKey(`key_new_${state.keys.length}`, { name: input.name, masked: ['', ''], more }),
        ...state.keys,
      ];
      return done(find(`key_new_${state.keys.length - 1}`));
    },
    apiKeyReveal: ({ input }: Input<{ id: string }>) => {
      const key = find(input.id);
      const revealedAt = new Date().toISOString();
      Object.assign(key, {
        state: 'ENABLED',
        disabledReason: null,
        revealedAt,
        prefix: SECRET.slice(0, 7),
        suffix: SECRET.slice(-4),
      });
      return { ...done(key), secret: SECRET };
    },
    apiKeyDisable: ({ input }: Input<{ id: string; leaked: boolean }>) => {
      const key = find(input.id);
      Object.assign(key, { state: 'DISABLED', disabledReason: input.leaked ? 'LEAKED' : 'OWNER' });
      return { ...done(key), appliedNodes: 3, pendingNodes: [] };
    },
    apiKeyEnable: ({ input }: Input<{ id: string }>) =>
      done(Object.assign(find(input.id), { state: 'ENABLED', disabledReason: null })),
    apiKeyRotate: ({ input }: Input<{ id: string }>) => {
      const rotation = {
        pendingReveal: true,
        previousSuffix: find(input.id).suffix,
        graceEndsAt: null,
        previousLastUsedAt: null,
      };
      return done(Object.assign(find(input.id), { rotation }));
    },
  };
}

type Row = ReturnType<typeof makeRow>;

function subscriptions(waiting: Set<(row: Row) => void>) {
  // eslint-disable-next-line require-yield -- a stream of nothing, open until its reader leaves
  async function* silence(): AsyncGenerator<never> {
    await new Promise(() => undefined);
  }
  async function* usageAdded(): AsyncGenerator<{ usageAdded: Row }> {
    const queue: Row[] = [];
    let wake = () => undefined as void;
    const send = (row: Row) => {
      queue.push(row);
      wake();
    };
    waiting.add(send);
    try {
      for (;;) {
        const row = queue.shift();
        if (row) yield { usageAdded: row };
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      waiting.delete(send);
    }
  }
  return { usageAdded, walletUpdated: silence, apiKeyUpdated: silence, catalogUpdated: silence };
}

function file(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const name = path.extname(pathname) === '' ? '/index.html' : path.normalize(pathname);
  try {
    const body = readFileSync(path.join(folder, name));
    response
      .setHeader('content-type', CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream')
      .end(body);
  } catch {
    response.writeHead(404).end();
  }
}
