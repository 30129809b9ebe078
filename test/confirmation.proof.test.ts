/** A key works on every node when its reveal is answered, and on no node when its disabling is answered. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase } from './database.ts';
import { startProxy } from './chaos/proxy.ts';
import type { Proxy } from './chaos/proxy.ts';
import { addCustomer, startHouse } from './house.ts';
import type { Customer, House } from './house.ts';

const CUSTOMERS = 10;
/** Few enough for a machine that runs other tests beside; `CONFIRMED_KEYS=1000` needs both cores alone. */
const KEYS = Number(process.env['CONFIRMED_KEYS'] ?? 100);
const NODES = 3;
/** The pool of a control plane, without the connections of its configuration feed. */
const CONNECTIONS_OF_PEOPLE = 20;
/** Below the connections that a node admits from an address before it has read a valid key. */
const CONNECTIONS_PER_NODE = 128;
/** On a busy machine. */
const TEST_MS = 120_000;

interface Confirmed {
  secret?: string;
  appliedNodes: number;
  pendingNodes: { name: string; lastSeenAt: string }[];
}
const CONFIRMED = 'appliedNodes pendingNodes { name lastSeenAt }';

const dispatcher = new Agent({ connections: CONNECTIONS_PER_NODE });
let house: House;
let customers: Customer[];
/** Between the control plane and each node, in their order. */
const proxies: Proxy[] = [];
let drop: () => Promise<void>;
beforeAll(async () => {
  const database = await createEmptyDatabase();
  drop = database.drop;
  const controlEnv = { QUERY_BUDGET: '1000000000' };
  const reachControl = async (url: string): Promise<string> => {
    const proxy = await startProxy(Number(new URL(url).port));
    proxies.push(proxy);
    return `http://127.0.0.1:${proxy.port}`;
  };
  house = await startHouse({ databaseUrl: database.url, nodes: NODES, controlEnv, reachControl });
  customers = [];
  for (let at = 0; at < CUSTOMERS; at += 1) customers.push(await addCustomer(house, '1'));
}, TEST_MS);
afterAll(async () => {
  await dispatcher.close();
  await house?.stop();
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await drop?.();
});

interface OwnedKey {
  owner: Customer;
  id: string;
}

/** Keys that wait to be revealed, with their owners, in turn. */
async function newKeys(count: number): Promise<OwnedKey[]> {
  const keys = Array.from({ length: count }, (_, at) => ({
    owner: customers[at % CUSTOMERS] as Customer,
    id: `key_${randomBytes(8).toString('hex')}`,
  }));
  await house.database.query(
    `insert into api_key (id, owner_id, wallet_id, name, billing_group, state, disabled_reason, allowed_ips,
        created_at, version)
      select id, owner, wallet, 'many', 'default', 'DISABLED', 'NOT_REVEALED', '{}', now(), 1
      from unnest($1::text[], $2::text[], $3::text[]) as k (id, owner, wallet)`,
    [
      keys.map(({ id }) => id),
      keys.map(({ owner }) => owner.userId),
      keys.map(({ owner }) => owner.walletId),
    ],
  );
  return keys;
}

/** Changes a key. Sends the change again while the account has used up its rate. */
async function confirmedBy(
  { api }: Customer,
  mutation: 'apiKeyReveal' | 'apiKeyDisable',
  id: string,
): Promise<Confirmed> {
  const selection = mutation === 'apiKeyReveal' ? `secret ${CONFIRMED}` : CONFIRMED;
  for (;;) {
    try {
      return await api.mutate<Confirmed>(mutation, { id }, selection);
    } catch (error) {
      if (!String(error).includes('RATE_LIMITED')) throw error;
      await pause(100);
    }
  }
}

/** The status that each node gives to a request with the key. */
function statuses(secret: string): Promise<number[]> {
  return Promise.all(
    house.nodes.map(async ({ url }) => {
      const headers = { authorization: `Bearer ${secret}` };
      const answer = await fetch(`${url}/v1/models`, { headers, dispatcher });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
}

/** Statements that wait for a lock. */
async function sessionsThatWait(): Promise<number> {
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return (await house.database.query(waiting)).rows.length;
}

/** Gives the record of a key a new revision, past the control plane, and returns it. */
async function rewriteRecord(id: string): Promise<number> {
  const { rows } = await house.database.query<{ revision: number }>(
    `with head as (update config_head set revision = revision + 1 returning revision)
     update config_log c set revision = head.revision from head where kind = 'API_KEY' and key = $1
     returning head.revision`,
    [id],
  );
  return rows[0]?.revision ?? 0;
}

/** The revision that all nodes have applied. */
async function leastApplied(): Promise<number> {
  const { rows } = await house.database.query<{ applied: number }>(
    'select min(applied_revision) as applied from data_plane_node',
  );
  return rows[0]?.applied ?? 0;
}

function tally(answers: readonly number[][]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const status of answers.flat()) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('keys on three nodes', () => {
  it(
    `work on every node once ${KEYS} reveals at once are answered, and on none once they are disabled`,
    async () => {
      const keys = await newKeys(KEYS);
      const used = await Promise.all(
        keys.map(async ({ owner, id }) => {
          const revealed = await confirmedBy(owner, 'apiKeyReveal', id);
          expect(revealed).toMatchObject({ appliedNodes: NODES, pendingNodes: [] });
          const secret = revealed.secret ?? '';
          return { owner, id, secret, answers: await statuses(secret) };
        }),
      );
      expect(tally(used.map(({ answers }) => answers))).toEqual({ 200: KEYS * NODES });
      const refused = await Promise.all(
        used.map(async ({ owner, id, secret }) => {
          const disabled = await confirmedBy(owner, 'apiKeyDisable', id);
          expect(disabled).toMatchObject({ appliedNodes: NODES, pendingNodes: [] });
          return statuses(secret);
        }),
      );
      expect(tally(refused)).toEqual({ 403: KEYS * NODES });
    },
    TEST_MS,
  );

  it(
    'are confirmed without a frozen node, which the answer names with its last contact',
    async () => {
      const [{ owner, id }] = (await newKeys(1)) as [OwnedKey];
      const [, , frozen] = house.nodes;
      frozen?.process.child.kill('SIGSTOP');
      const revealed = await confirmedBy(owner, 'apiKeyReveal', id);
      expect(revealed).toMatchObject({ appliedNodes: NODES - 1, pendingNodes: [{ name: frozen?.name }] });
      expect(Date.parse(revealed.pendingNodes[0]?.lastSeenAt ?? '')).toBeGreaterThan(Date.now() - TEST_MS);
      frozen?.process.child.kill('SIGCONT');
      await house.applied();
      const disabled = await confirmedBy(owner, 'apiKeyDisable', id);
      expect(disabled).toMatchObject({ appliedNodes: NODES, pendingNodes: [] });
    },
    TEST_MS,
  );

  it.each(['blackhole', 'one-way', 'cut'] as const)(
    'are confirmed without a node behind a network that fails (%s), which the answer names',
    async (fault) => {
      const [one, two] = (await newKeys(2)) as [OwnedKey, OwnedKey];
      const [, severed] = house.nodes;
      const before = Date.now();
      proxies[1]?.disturb(fault);
      const revealed = await confirmedBy(one.owner, 'apiKeyReveal', one.id);
      expect(revealed).toMatchObject({ appliedNodes: NODES - 1, pendingNodes: [{ name: severed?.name }] });
      const contact = Date.parse(revealed.pendingNodes[0]?.lastSeenAt ?? '');
      expect(contact).toBeGreaterThan(before - TEST_MS);
      expect(await statuses(revealed.secret ?? '')).toEqual([200, 401, 200]);
      proxies[1]?.heal('reset');
      await house.applied();
      const later = await confirmedBy(two.owner, 'apiKeyReveal', two.id);
      expect(later).toMatchObject({ appliedNodes: NODES, pendingNodes: [] });
      for (const { secret } of [revealed, later])
        expect(await statuses(secret ?? '')).toEqual([200, 200, 200]);
    },
    TEST_MS,
  );

  it(
    'are acknowledged by nodes while changes occupy every database connection for users',
    async () => {
      const [{ owner, id }] = (await newKeys(1)) as [OwnedKey];
      await confirmedBy(owner, 'apiKeyReveal', id);
      const other = await house.database.connect();
      await other.query('begin');
      await other.query('select 1 from api_key where id = $1 for update', [id]);
      const changes = Array.from({ length: CONNECTIONS_OF_PEOPLE }, () =>
        confirmedBy(owner, 'apiKeyDisable', id),
      );
      await expect.poll(sessionsThatWait).toBe(CONNECTIONS_OF_PEOPLE);
      const revision = await rewriteRecord(id);
      await expect.poll(leastApplied).toBe(revision);
      expect(await sessionsThatWait()).toBe(CONNECTIONS_OF_PEOPLE);
      await other.query('rollback');
      other.release();
      await Promise.all(changes);
    },
    TEST_MS,
  );

  it(
    'are confirmed without a stopped node, which the answer names until the node is drained',
    async () => {
      const [{ owner, id }] = (await newKeys(1)) as [OwnedKey];
      const [, , stopped] = house.nodes;
      await stopped?.process.stop();
      const revealed = await confirmedBy(owner, 'apiKeyReveal', id);
      expect(revealed).toMatchObject({ appliedNodes: NODES - 1, pendingNodes: [{ name: stopped?.name }] });
      const { admin } = await house.admin.query<{
        admin: { dataPlaneNodes: { id: string; name: string }[] };
      }>('query { admin { dataPlaneNodes { id name } } }');
      const gone = admin.dataPlaneNodes.find(({ name }) => name === stopped?.name);
      const drain = `mutation ($input: AdminReasonInput!) {
        adminNodeDrain(input: $input) { userErrors { code } }
      }`;
      await house.admin.query(drain, { input: { id: gone?.id, reason: 'gone' } });
      const disabled = await confirmedBy(owner, 'apiKeyDisable', id);
      expect(disabled).toMatchObject({ appliedNodes: NODES - 1, pendingNodes: [] });
    },
    TEST_MS,
  );
});
