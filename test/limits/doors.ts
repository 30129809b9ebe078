/**
 * All modules through which bytes of others arrive, each with the entrance whose limits hold there. A module
 * that listens or connects and is not listed fails the test of the table.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../tidy/sources.ts';
import type { Entrance } from './cells.ts';

/** Why a module needs no entrance. */
type Reason = `not an entrance: ${string}`;

const OWN_SYSTEM = 'not an entrance: the operator runs the other side';
const LOCAL = 'not an entrance: `npm start` alone, for this machine';

/** The entrance of each module. */
export const DOORS: Readonly<Record<string, Entrance | Reason>> = {
  'control-plane/accounts/oidc.client.ts': OWN_SYSTEM,
  'control-plane/app.ts': 'GraphQL HTTP',
  'control-plane/clickhouse/store.ts': OWN_SYSTEM,
  'control-plane/configuration/api-call.ts': 'not an entrance: a command that asks the own control plane',
  'control-plane/configuration/audit-log.ts': 'not an entrance: a command that asks the own control plane',
  'control-plane/database/listener.ts': OWN_SYSTEM,
  'control-plane/database/lock-retry.ts': OWN_SYSTEM,
  'control-plane/database/orm.ts': OWN_SYSTEM,
  'control-plane/database/statements.ts': OWN_SYSTEM,
  'control-plane/graphql/socket.ts': 'GraphQL WebSocket',
  'control-plane/intelligence/key-database.ts': OWN_SYSTEM,
  'control-plane/listener.ts': 'GraphQL HTTP',
  'control-plane/local/card-processor/deliveries.ts': LOCAL,
  'control-plane/local/card-processor/processor.ts': LOCAL,
  'control-plane/local/data-folder.ts': LOCAL,
  'control-plane/local/ports.ts': LOCAL,
  'control-plane/local/postgres.ts': LOCAL,
  'control-plane/mail/mailer.ts': OWN_SYSTEM,
  'control-plane/main.ts': 'GraphQL HTTP',
  'control-plane/payments/card/processor.ts': OWN_SYSTEM,
  'control-plane/payments/crypto/rpc.client.ts': 'answers to the control plane',
  'control-plane/playground/data-plane.ts': OWN_SYSTEM,
  'control-plane/upstreams/model-list.ts': 'answers to the control plane',
  'control-plane/upstreams/probe-access.ts': 'answers to the control plane',
  'control-plane/upstreams/probe-dispatcher.ts': 'answers to the control plane',
  'control-plane/upstreams/probe.ts': 'answers to the control plane',
  'control-plane/usage/archive/bucket.client.ts': OWN_SYSTEM,
  'control-plane/webhooks/post.ts': 'answers to the control plane',
  'data-plane/control/client.ts': OWN_SYSTEM,
  'data-plane/control/report-usage.ts': OWN_SYSTEM,
  'data-plane/realtime/dial.ts': 'upstream answers',
  'data-plane/realtime/open.ts': 'node WebSocket',
  'data-plane/run/run-node.ts': 'node HTTP',
  'data-plane/upstreams/connections.ts': 'upstream answers',
  'data-plane/upstreams/socket-with-headers.ts': 'upstream answers',
  'data-plane/workers/port.ts': 'not an entrance: it closes the port before it accepts a connection',
};

/** Calls and packages that listen or connect. */
const OPENS = new RegExp(
  [
    String.raw`\.listen\(\S`,
    String.raw`\bnew (?:WebSocket|WebSocketServer)\(`,
    String.raw`(?<!await )\bfetch\((?!\))|await fetch\((?!\))`,
    String.raw`\bcreate(?:Connection|Transport)\(`,
    String.raw`^import (?!type).* from '(?:undici|openid-client|@clickhouse/client|pg)'`,
    String.raw`^import .*\bAgent\b.* from 'node:https?'`,
    String.raw`^import \* as https? from`,
    String.raw`^\} from '(?:undici|openid-client|@clickhouse/client|pg)'`,
  ].join('|'),
  'm',
);
const PROGRAMS = ['control-plane', 'data-plane', 'shared'];

/** The modules that open a way for bytes of others, sorted. */
export function openDoors(): string[] {
  return PROGRAMS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('node_modules'))
      .map((name) => `${folder}/${name}`)
      .filter((path) => OPENS.test(readFileSync(join(ROOT, path), 'utf8'))),
  ).toSorted();
}

/**
 * The entrance of each path of the control plane that is no file. Health, metrics, feeds and redirects to the
 * identity provider have small answers and take no body, as files do.
 */
export const CONTROL_PATHS: Readonly<Record<string, Entrance>> = {
  '/export/:name': 'downloads',
  '/export/audit.jsonl': 'downloads',
  '/exports/personal/:id': 'downloads',
  '/graphql': 'GraphQL HTTP',
  '/graphql/schema.graphql': 'static files',
  '/livez': 'static files',
  '/metrics': 'static files',
  '/oidc/callback': 'static files',
  '/oidc/start': 'static files',
  '/readyz': 'static files',
  '/status/feed.atom': 'static files',
  '/status/feed.json': 'static files',
  '/webhooks/stripe': 'webhooks',
};

/** The paths in the text of Fastify's `printRoutes({ commonPrefix: false })`. */
export function pathsIn(printed: string): string[] {
  const parents: string[] = [];
  const paths: string[] = [];
  for (const line of printed.split('\n')) {
    const [, indent = '', path = '', methods] = /^([│ ]*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line) ?? [];
    if (path === '') continue;
    const depth = indent.length / 4;
    parents.length = depth;
    parents.push(path);
    if (methods !== undefined) paths.push(parents.join(''));
  }
  return paths.toSorted();
}
