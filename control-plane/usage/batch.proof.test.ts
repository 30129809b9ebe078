/**
 * Property test: a batch leaves the same rows, balances and sums as its records reported one by one, also if
 * it repeats records, reports them twice, or has charges that are late, refused or beyond a grant. Likewise
 * batches of several nodes in one transaction leave what each of them leaves alone.
 */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { createOrm } from '../database/orm.ts';
import { query, sql } from '../database/sql.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { reclaimLease } from '../wallet/lease.end.ts';
import { requestLease } from '../wallet/lease.service.ts';
import type { Report } from './admission.service.ts';
import type { ReportAnswer, ReportedUsage } from './settlement.rules.ts';
import { settleTogether } from './settlement.group.ts';
import { settle } from './settlement.service.ts';

const PRICE = 100n;
const NODES = 3;
const LEASES = 4;
const GRANTED = 12n;
const RUNS = 25;

let money: Money;
let copy: MikroORM;
let copyName: string;
/** Nodes, each with a lease of every wallet; the last lease of each node has ended. */
let nodes: { nodeId: string; journalId: string; leases: { walletId: string; leaseId: string }[] }[] = [];
const lastSeqs = new Map<string, number>();

beforeAll(async () => {
  money = await openMoney();
  nodes = await Promise.all(
    Array.from({ length: NODES }, async () => ({ ...(await money.node()), leases: [] })),
  );
  for (let at = 0; at < LEASES; at += 1) {
    const { walletId } = await money.wallet({ cash: 80n * PRICE, gift: 5n * PRICE });
    for (const { leases, ...node } of nodes) {
      const amounts = { need: PRICE, want: GRANTED * PRICE, waiting: GRANTED * PRICE };
      const request = { ...node, walletId, keyId: null, requestNo: at + 1, ...amounts };
      leases.push({ walletId, leaseId: (await requestLease(money.em(), request)).id });
    }
  }
  // The last lease of each node has ended: its charges are late.
  for (const { leases } of nodes) {
    const leaseId = leases.at(-1)?.leaseId ?? '';
    await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${leaseId}`);
    await reclaimLease(money.em(), leaseId);
  }
  await money.orm.close(true);
  copyName = `${new URL(money.url).pathname.slice(1)}_copy`;
  await onServer(`create database ${copyName} template ${new URL(money.url).pathname.slice(1)}`);
  await money.orm.connect();
  copy = await createOrm(withDatabase(copyName));
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await copy.close(true);
  await onServer(`drop database ${copyName} with (force)`);
  await money.close();
});

function withDatabase(name: string): string {
  const url = new URL(money.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase('postgres') });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** A generated record: its lease, and how it differs from a correct charge. */
const draft = fc.record({
  lease: fc.nat(LEASES - 1),
  kind: fc.constantFrom(
    'charge',
    'charge',
    'charge',
    'free',
    'wrong price',
    'wrong wallet',
    'foreign',
    'repeated',
  ),
  price: fc.integer({ min: 1, max: 4 }),
});
type Draft = typeof draft extends fc.Arbitrary<infer Value> ? Value : never;
type Node = (typeof nodes)[number];

function otherJournal(node: Node): string {
  return nodes.find((other) => other !== node)?.journalId ?? '';
}

function nextSeq(journalId: string): number {
  const seq = (lastSeqs.get(journalId) ?? 0) + 1;
  lastSeqs.set(journalId, seq);
  return seq;
}

function recordsOf(node: Node | undefined, drafts: readonly Draft[]): ReportedUsage[] {
  const records: ReportedUsage[] = [];
  if (!node) return records;
  for (const { lease, kind, price } of drafts) {
    const { walletId = '', leaseId = '' } = node.leases[lease] ?? {};
    const last = records.at(-1);
    if (kind === 'repeated' && last) {
      records.push(last);
      continue;
    }
    if (kind === 'free') {
      const none = { journalId: null, leaseId: null, seq: null, cost: 0n };
      records.push(reported({ ...none, walletId, tried: { attempts: [], omitted: 2 }, repeats: 1 }));
      continue;
    }
    const cost = BigInt(price) * PRICE;
    const isForeign = kind === 'foreign';
    const journalId = isForeign ? otherJournal(node) : node.journalId;
    // A foreign record names a position that the owner of the journal has used.
    const charge = { journalId, leaseId, seq: isForeign ? 1 : nextSeq(journalId), walletId, cost };
    const wrong = {
      ...(kind === 'wrong price' && { basePrice: cost + 1n }),
      ...(kind === 'wrong wallet' && { walletId: 'wal_none' }),
    };
    records.push(reported({ ...charge, basePrice: cost, ...wrong }));
  }
  return records;
}

/** The rows of each table that do not depend on times, generated ids and the number of transactions. */
const TABLES: Readonly<Record<string, string>> = {
  rows: `select to_jsonb(u) - array['id', 'at', 'recorded_at'] from usage_entry u order by request_id`,
  charges: `select to_jsonb(c) - array['transaction_id'] from usage_charge c order by request_id`,
  ids: 'select request_id from usage_request order by 1',
  balances: `select case kind when 'REVENUE' then kind else id end, sum(balance) from ledger_account
    group by 1 order by 1`,
  leases: `select to_jsonb(l) from wallet_lease l order by id`,
  alarms: `select kind, request_id, journal_id, seq, reason from settlement_alarm order by 1, 2, 3, 4, 5`,
  hours: `select sum(requests), sum(input_tokens), sum(cost), wallet_id, status from usage_hour
    group by 4, 5 order by 4, 5`,
  all: 'select sum(requests), sum(cost), model_name, status from usage_hour_all group by 3, 4 order by 3, 4',
  spans:
    'select sum(requests), sum(cost), width, wallet_id from usage_wallet_span group by 3, 4 order by 3, 4',
  keys: 'select key_id, sum(requests), sum(cost) from usage_key_month group by 1 order by 1',
};

async function tablesOf(orm: MikroORM): Promise<Record<string, unknown>> {
  const tables: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(TABLES))
    tables[name] = await query(orm.em.fork(), { text, values: [] });
  return tables;
}

function reportOf(node: Node | undefined, records: readonly ReportedUsage[]): Report {
  return { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: node?.nodeId ?? '' }, records };
}

it('a batch has the same effect as its records one by one', async () => {
  const [node] = nodes;
  const report = (orm: MikroORM, records: readonly ReportedUsage[]) =>
    settle(orm.em.fork(), reportOf(node, records));
  await fc.assert(
    fc.asyncProperty(
      fc.array(draft, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (drafts, twice) => {
        const records = recordsOf(node, drafts);
        const whole = await report(money.orm, records);
        if (twice) await report(money.orm, records);
        const answers: ReportAnswer[] = [];
        for (const record of records) answers.push(await report(copy, [record]));
        const accepted = answers.reduce((sum, answer) => sum + answer.accepted, 0);
        const rejected = new Set(answers.flatMap((answer) => answer.rejected));
        expect([whole.accepted, new Set(whole.rejected)]).toEqual([accepted, rejected]);
        expect(await tablesOf(money.orm)).toEqual(await tablesOf(copy));
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
}, 60_000);

it('batches of several nodes in one transaction have the same effect as each alone', async () => {
  const batches = fc.tuple(...nodes.map(() => fc.array(draft, { maxLength: 8 })));
  await fc.assert(
    fc.asyncProperty(batches, fc.boolean(), async (drafts, twice) => {
      const reports = nodes.map((node, at) => reportOf(node, recordsOf(node, drafts[at] ?? [])));
      const together = await settleTogether(money.orm.em.fork(), reports);
      const again = twice ? await settleTogether(money.orm.em.fork(), reports) : undefined;
      const alone: ReportAnswer[] = [];
      for (const report of reports) alone.push(await settle(copy.em.fork(), report));
      expect(together).toEqual(alone);
      const known = together.map(({ accepted, duplicates }) => accepted + duplicates);
      if (again) expect(again.map(({ duplicates }) => duplicates)).toEqual(known);
      expect(await tablesOf(money.orm)).toEqual(await tablesOf(copy));
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
}, 60_000);
