/**
 * A control plane for the console's tests: the real schema with sample data, on a free port, with the real
 * policy headers.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { htmlOf } from '@gateway/shared/console-pages';
import {
  buildSchema,
  defaultFieldResolver,
  getNamedType,
  graphql,
  GraphQLString,
  isObjectType,
} from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { makeAccount } from './account-answers.ts';
import { mutations, queries, type State } from './answers.ts';
import { makeAlerts } from './alert-answers.ts';
import { makeAdminPayments } from './admin-payment-answers.ts';
import { intelligenceOf, learnItem, makeItems } from './item-answers.ts';
import { makePools, poolAdministration } from './pool-answers.ts';
import { makePayments } from './payment-answers.ts';
import { makeKeys, makeRow } from './sample.ts';

export interface Fake {
  url: string;
  state: State;
  /** How often somebody has begun to listen to new lines of usage. */
  usageListeners(): number;
  /** How often somebody has begun to listen to a top-up. */
  topUpListeners(): number;
  /** Changes the newest top-up, and sends it to all listeners. */
  changeTopUp(values: object): void;
  /** Sends one new line of usage to all listeners, with these values. */
  addUsage(values?: object): void;
  /** How often somebody has begun to listen to Personal Intelligence. */
  intelligenceListeners(): number;
  /** Adds an item, or changes its text, and notifies all listeners. */
  learn(item: { id: string; text: string }): void;
  /** Opens or closes the storefront, and notifies all listeners. */
  turnStorefront(state: 'OPEN' | 'CLOSED'): void;
  close(): Promise<void>;
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const CONTENT_TYPES: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

function makeState(): State {
  const account = {
    ...makeAccount(),
    ...makePools(),
    ...makePayments(),
    ...makeItems(),
    ...makeAlerts(),
    ...makeAdminPayments(),
  };
  return {
    signedIn: true,
    keys: makeKeys(),
    broken: false,
    admin: false,
    money: {},
    rewrite: undefined,
    ...account,
  };
}

/** Starts it over the built console in `folder`. */
export async function startFake(folder: string, schemaText: string): Promise<Fake> {
  const state = makeState();
  const schema = rewritable(buildSchema(schemaText), state);
  const topics = makeTopics();
  const { rows, shop, payments, learning } = topics;
  const tell = () => shop.send({ ...state.storefront });
  const root = { ...queries(state), ...mutations(state), ...poolAdministration(state, tell) };
  let added = 1_000;
  const server = createServer((request, response) => {
    response.setHeader('content-security-policy', POLICY);
    if (request.url === '/graphql') void answer(request, response);
    else if (isPage(request)) sendPage(response, page(folder, request, state.signedIn));
    else file(folder, request, response);
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { query, variables } = JSON.parse(await bodyOf(request));
    response.setHeader('content-type', 'application/json');
    if (state.broken) return void response.end(JSON.stringify({ errors: [BROKEN] }));
    response.end(
      JSON.stringify(await graphql({ schema, source: query, variableValues: variables, rootValue: root })),
    );
  }
  const live = useServer(
    { schema, roots: { subscription: subscriptions(topics) } },
    new WebSocketServer({ server, path: '/graphql' }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    // A name, because no passkey is bound to an address.
    url: `http://localhost:${port}`,
    state,
    usageListeners: () => rows.begun(),
    addUsage: (values = {}) =>
      rows.send({ ...makeRow(added++), createdAt: new Date().toISOString(), ...values }),
    topUpListeners: () => payments.begun(),
    changeTopUp: (values) => changeNewest(state, payments, values),
    intelligenceListeners: () => learning.begun(),
    learn: (item) => learning.send(intelligenceOf(learnItem(state, item))),
    turnStorefront: (to) => {
      state.storefront = { ...state.storefront, state: to };
      tell();
    },
    close: async () => {
      await live.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

/** The schema, in which `state.rewrite` replaces the text of every field of type String. */
function rewritable(schema: GraphQLSchema, state: State): GraphQLSchema {
  const rewritten = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => rewritten(item, name));
    return typeof value === 'string' ? (state.rewrite?.(value, name) ?? value) : value;
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (getNamedType(field.type) !== GraphQLString) continue;
      field.resolve = async (...parts) => rewritten(await defaultFieldResolver(...parts), field.name);
    }
  }
  return schema;
}

const BROKEN = {
  message: 'The service failed.',
  extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'req_01KAGX9B2C' },
};

type Row = ReturnType<typeof makeRow>;
type TopUp = State['topUps'][number];

interface Topic<Value> {
  send(value: Value): void;
  /** How often somebody began to listen. */
  begun(): number;
  listen(): AsyncGenerator<Value>;
}

/** Delivers each sent value to all present listeners. */
function makeTopic<Value>(): Topic<Value> {
  const listeners = new Set<(value: Value) => void>();
  let begun = 0;
  async function* listen(): AsyncGenerator<Value> {
    const queue: Value[] = [];
    let wake = () => undefined as void;
    const send = (value: Value) => {
      queue.push(value);
      wake();
    };
    listeners.add(send);
    begun += 1;
    try {
      for (;;) {
        const value = queue.shift();
        if (value !== undefined) yield value;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      listeners.delete(send);
    }
  }
  return {
    listen,
    begun: () => begun,
    send: (value) => {
      for (const send of listeners) send(value);
    },
  };
}

interface Topics {
  rows: Topic<Row>;
  shop: Topic<State['storefront']>;
  payments: Topic<TopUp>;
  learning: Topic<ReturnType<typeof intelligenceOf>>;
}

function changeNewest({ topUps: [newest] }: State, payments: Topic<TopUp>, values: object): void {
  if (newest) payments.send(Object.assign(newest, values));
}

function makeTopics(): Topics {
  return { rows: makeTopic(), shop: makeTopic(), payments: makeTopic(), learning: makeTopic() };
}

function subscriptions({ rows, shop, payments, learning }: Topics) {
  // eslint-disable-next-line require-yield -- a stream of nothing, open until its reader leaves
  async function* silence(): AsyncGenerator<never> {
    await new Promise(() => undefined);
  }
  async function* usageAdded(): AsyncGenerator<{ usageAdded: Row }> {
    for await (const row of rows.listen()) yield { usageAdded: row };
  }
  async function* storefrontUpdated(): AsyncGenerator<{ storefrontUpdated: State['storefront'] }> {
    for await (const storefront of shop.listen()) yield { storefrontUpdated: storefront };
  }
  async function* topUpUpdated({ id }: { id: string }): AsyncGenerator<{ topUpUpdated: TopUp }> {
    for await (const topUp of payments.listen()) if (topUp.id === id) yield { topUpUpdated: topUp };
  }
  async function* personalIntelligenceUpdated() {
    for await (const intelligence of learning.listen()) yield { personalIntelligenceUpdated: intelligence };
  }
  return {
    usageAdded,
    topUpUpdated,
    storefrontUpdated,
    poolUpdated: silence,
    walletUpdated: silence,
    personalIntelligenceUpdated,
    apiKeyUpdated: silence,
    catalogUpdated: silence,
    adminNodeUpdated: silence,
  };
}

function exportFile(response: ServerResponse): void {
  response
    .setHeader('content-type', 'text/csv')
    .setHeader('content-disposition', 'attachment')
    .end('time\r\n');
}

function file(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname.startsWith('/export/')) return exportFile(response);
  const name = path.normalize(pathname);
  try {
    const body = readFileSync(path.join(folder, name));
    response
      .setHeader('content-type', CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream')
      .setHeader('cache-control', name.startsWith('/assets/') ? 'max-age=3600, immutable' : 'no-cache')
      .end(body);
  } catch {
    response.writeHead(404).end();
  }
}

/** Whether a browser opens a page of the console. */
function isPage({ url = '/' }: IncomingMessage): boolean {
  const { pathname } = new URL(url, 'http://localhost');
  return path.extname(pathname) === '' && !pathname.startsWith('/export/');
}

function sendPage(response: ServerResponse, html: string): void {
  response.setHeader('content-type', 'text/html').setHeader('cache-control', 'no-cache').end(html);
}

function page(folder: string, { url = '/', headers }: IncomingMessage, signedIn: boolean): string {
  const html = readFileSync(path.join(folder, 'index.html'), 'utf8');
  const pages = JSON.parse(readFileSync(path.join(folder, 'pages.json'), 'utf8'));
  const acceptLanguage = headers['accept-language'] ?? '';
  return htmlOf(html, pages, { url, acceptLanguage, cookie: signedIn ? 'session=1' : '' });
}
