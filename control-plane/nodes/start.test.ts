/**
 * Processes of a node and what they leave: a key is charged once, whatever copies of whose messages come
 * late, and a key whose process died is free once all it charged is settled.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPublicKey } from '@gateway/shared/sealing';
import { addJournal, openMoney, takePlace, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { query, queryOne, sql } from '../sql.ts';
import { claimRequest, releaseClaim } from '../usage/claim.service.ts';
import { settle } from '../usage/settlement.service.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { heartbeat } from './contact.service.ts';
import { drainNode, nodeById } from './node.service.ts';
import { acknowledge } from './node.stream.ts';
import { judgeStart } from './start.rules.ts';
import { registerNode } from './start.service.ts';

const PRICE = 100n;
const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  await money.close();
});

interface Process {
  nodeId: string;
  journalId: string;
  /** Absent for one of an earlier release. */
  process?: { start: number; instanceId: string };
}

const processOf = (nodeId: string, journalId: string, start: number): Process => ({
  ...{ nodeId, journalId },
  process: { start, instanceId: randomUUID() },
});

const register = ({ nodeId, ...self }: Process): Promise<void> =>
  registerNode(money.em(), nodeId, { version: '1', region: null, publicKey, ...self });

const beat = (
  { nodeId, journalId, process }: Process,
  more: { formerSettled?: boolean; leaving?: boolean } = {},
): Promise<void> =>
  heartbeat(money.em(), nodeId, {
    ...{ journalId, instanceId: process?.instanceId, appliedRevision: 0, rps: '0', inflight: 0 },
    ...{ eventLoopP99Ms: 0, usageBacklog: 0, formerSettled: true, ...more },
  });

const silence = (nodeId: string): Promise<unknown> =>
  query(
    money.em(),
    sql`update data_plane_node set last_seen_at = last_seen_at - interval '21 seconds' where id = ${nodeId}`,
  );

/** Asks for the same key each time, as another request. */
async function claims() {
  const { walletId } = await money.wallet({ cash: 1_000n * PRICE });
  const texts = { route: '/v1/messages', keyDigest: 'key', fingerprint: 'body' };
  return async ({ nodeId, process }: Process): Promise<string | null> => {
    const asked = { nodeId, instanceId: process?.instanceId ?? null, walletId, ...texts };
    return (await claimRequest(money.em(), { ...asked, requestId: randomUUID() })).state;
  };
}

it('what a dead process applied is not what the node serves, however late it says so', async () => {
  const { nodeId, journalId } = await money.node();
  const [dead, next] = [processOf(nodeId, journalId, 1), processOf(nodeId, journalId, 2)];
  const acknowledged = (of: Process, revision: number): Promise<void> =>
    acknowledge(money.em(), nodeId, { ...of.process, revision, checksum: `of ${revision}`, error: null });
  const served = async () => {
    const { appliedRevision, lastAckError } = await nodeById(money.em(), nodeId);
    return { appliedRevision, lastAckError };
  };
  await register(dead);
  await acknowledged(dead, 8);
  await register(next);
  await acknowledged(next, 7);
  await expect(acknowledged(dead, 9)).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(acknowledged(processOf(nodeId, journalId, 2), 9)).rejects.toMatchObject({ code: 'CONFLICT' });
  const refusal = { ...dead.process, revision: 9, checksum: '', error: 'no' };
  await expect(acknowledge(money.em(), nodeId, refusal)).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await served()).toEqual({ appliedRevision: 7, lastAckError: null });
  await acknowledged(next, 9);
  expect(await served()).toEqual({ appliedRevision: 9, lastAckError: null });
  // One of an earlier release does not say which process it is.
  await acknowledged({ nodeId, journalId }, 10);
  expect(await served()).toEqual({ appliedRevision: 10, lastAckError: null });
});

describe('a key whose process died', () => {
  it('is free once a later process has its journal and has settled what stood in it', async () => {
    const { nodeId, journalId } = await money.node();
    const [dead, next] = [processOf(nodeId, journalId, 1), processOf(nodeId, journalId, 4)];
    const claim = await claims();
    await register(dead);
    expect(await claim(dead)).toBe('CLAIMED');
    await register(next);
    expect(await claim(next)).toBe('IN_FLIGHT');
    await beat(next, { formerSettled: false });
    expect(await claim(next)).toBe('IN_FLIGHT');
    await beat(next);
    expect(await claim(next)).toBe('CLAIMED');
    await beat(next);
    expect(await claim(next)).toBe('IN_FLIGHT');
  });

  it('is not freed by a heartbeat that the dead process sent, however late it comes', async () => {
    const { nodeId, journalId } = await money.node();
    const [dead, next] = [processOf(nodeId, journalId, 1), processOf(nodeId, journalId, 2)];
    const claim = await claims();
    await register(dead);
    await claim(dead);
    await register(next);
    await expect(beat(dead)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await claim(next)).toBe('IN_FLIGHT');
    const other = await claims();
    await expect(other(dead)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is not freed by a process on another journal: nobody knows what stands in the lost one', async () => {
    const { nodeId, journalId } = await money.node();
    const [dead, next] = [processOf(nodeId, journalId, 1), processOf(nodeId, `${journalId} b`, 1)];
    const claim = await claims();
    await register(dead);
    await claim(dead);
    await silence(nodeId);
    await register(next);
    await beat(next);
    expect(await claim(next)).toBe('IN_FLIGHT');
  });

  it('of an earlier release is freed by the first later process that numbers its start', async () => {
    const { nodeId, journalId } = await money.node();
    const old: Process = { nodeId, journalId };
    const claim = await claims();
    await register(old);
    expect(await claim(old)).toBe('CLAIMED');
    await register(old);
    await beat(old);
    expect(await claim(old)).toBe('IN_FLIGHT');
    const next = processOf(nodeId, journalId, 7);
    await register(next);
    await beat(next);
    expect(await claim(next)).toBe('CLAIMED');
    await register(old);
    await beat(next);
    expect(await claim(old)).toBe('IN_FLIGHT');
  });
});

describe('a process that lives', () => {
  it('keeps its keys and its being drained when a copy of its registration comes late', async () => {
    const { nodeId, journalId } = await money.node();
    const living = processOf(nodeId, journalId, 1);
    const claim = await claims();
    await register(living);
    await beat(living);
    await claim(living);
    await drainNode(money.em(), nodeId);
    await register(living);
    await beat(living);
    expect(await claim(living)).toBe('IN_FLIGHT');
    expect((await nodeById(money.em(), nodeId)).state).toBe('DRAINING');
  });

  it('is the node alone: another one on its token is refused, and let in when it is silent', async () => {
    const { nodeId, journalId } = await money.node();
    const [first, second] = [processOf(nodeId, journalId, 3), processOf(nodeId, `${journalId} b`, 1)];
    const claim = await claims();
    await register(first);
    await claim(first);
    const refused = {
      code: 'CONFLICT',
      message: expect.stringContaining('a token and a DATA_DIR of its own'),
    };
    await expect(register(second)).rejects.toMatchObject(refused);
    await expect(beat(second)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const other = await claims();
    await expect(other(second)).rejects.toMatchObject({ code: 'CONFLICT' });
    await silence(nodeId);
    await register(second);
    await beat(second);
    await expect(beat(first)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(register(first)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await claim(second)).toBe('IN_FLIGHT');
  });

  it('gives its place up at once when it says that it leaves', async () => {
    const { nodeId, journalId } = await money.node();
    const [first, second] = [processOf(nodeId, journalId, 1), processOf(nodeId, `${journalId} b`, 1)];
    await register(first);
    await beat(first, { leaving: true });
    await register(second);
    await expect(beat(first, { leaving: true })).rejects.toMatchObject({ code: 'CONFLICT' });
    await beat(second);
  });

  it('is told apart from one on a copy of its folder', async () => {
    const { nodeId, journalId } = await money.node();
    const [one, copy] = [processOf(nodeId, journalId, 2), processOf(nodeId, journalId, 2)];
    const claim = await claims();
    await register(one);
    await claim(one);
    await expect(register(copy)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(beat(copy)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await claim(one)).toBe('IN_FLIGHT');
  });

  it('of many that begin at the same moment is one', async () => {
    const { nodeId, journalId } = await money.node();
    const all = Array.from({ length: 8 }, (_, at) => processOf(nodeId, `${journalId} ${at}`, 1));
    const started = await Promise.allSettled(all.map(register));
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it.each([
    [{ start: 0, instanceId: 'x' }, 'start'],
    [{ start: 1, instanceId: '' }, undefined],
    [{ start: 1, instanceId: 'x'.repeat(501) }, undefined],
  ])('says who it is in bounds (%o)', async (process, field) => {
    const wrong = register({ ...(await money.node()), process });
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID', ...(field && { field: ['input', field] }) });
  });
});

describe('the rule', () => {
  const JOURNALS = fc.constantFrom('a', 'b');
  const process = fc.record({ start: fc.integer({ min: 1, max: 4 }), instanceId: fc.constantFrom('x', 'y') });

  it('lets no process begin that is not later on its journal, and none beside one that is heard', () => {
    fc.assert(
      fc.property(
        ...[fc.nat(4), fc.option(fc.constantFrom('x', 'y')), fc.option(JOURNALS), fc.boolean(), JOURNALS],
        fc.option(process),
        (start, instanceId, nodeJournalId, isHeard, journalId, announced) => {
          const verdict = judgeStart(
            { start, instanceId, nodeJournalId, isHeard },
            { journalId, process: announced },
          );
          const mayBegin = !announced || announced.start > start;
          const isFree = nodeJournalId === null || nodeJournalId === journalId || !isHeard;
          expect(verdict === 'BEGINS').toBe(mayBegin && isFree);
        },
      ),
    );
  });
});

/** Enough that, were a dead process heard, four runs of five find it; the tests above find it always. */
const RUNS = 150;

/** Journals, their processes one after the other, and one key that they all ask for. */
class World {
  readonly charged: string[] = [];
  readonly #sent: (() => Promise<unknown>)[] = [];
  readonly #journals: Journal[];
  readonly #walletId: string;
  readonly #nodeId: string;

  constructor(nodeId: string, walletId: string, journals: Journal[]) {
    this.#nodeId = nodeId;
    this.#walletId = walletId;
    this.#journals = journals;
  }

  async act([what, at]: readonly [Action, number]): Promise<void> {
    const journal = this.#journals[at % this.#journals.length] as Journal;
    const { process } = journal;
    if (what === 'copies') {
      for (const message of [...this.#sent]) await message().catch(() => null);
      return;
    }
    if (what === 'silence') return void (await silence(this.#nodeId));
    if (what === 'start') return this.#start(journal);
    if (!process) return;
    if (what === 'kill') [journal.process, journal.open] = [undefined, []];
    if (what === 'beat') {
      const formerSettled = journal.settled >= journal.former;
      await this.#send(() => beat(process, { formerSettled }));
    }
    if (what === 'claim') await this.#claim(journal, process);
    if (what === 'charge') journal.durable.push(...journal.open.splice(0, 1));
    if (what === 'fail') for (const id of journal.open.splice(0, 1)) await this.#release(id);
    if (what === 'settle') await this.#settle(journal);
  }

  /** Each message may be delivered again, at any time. */
  async #send(message: () => Promise<unknown>): Promise<boolean> {
    this.#sent.push(message);
    return message().then(
      () => true,
      () => false,
    );
  }

  async #start(journal: Journal): Promise<void> {
    if (journal.process) return;
    journal.start += 1;
    const process = processOf(this.#nodeId, journal.id, journal.start);
    if (!(await this.#send(() => register(process)))) return;
    [journal.process, journal.former] = [process, journal.durable.length];
  }

  async #claim(journal: Journal, { process }: Process): Promise<void> {
    const requestId = randomUUID();
    const texts = { route: '/v1/messages', keyDigest: 'key', fingerprint: 'body' };
    const asked = { nodeId: this.#nodeId, instanceId: process?.instanceId ?? null, walletId: this.#walletId };
    let state: string | null = null;
    await this.#send(async () => {
      ({ state } = await claimRequest(money.em(), { ...asked, ...texts, requestId }));
    });
    if (state === 'CLAIMED') journal.open.push(requestId);
  }

  async #release(requestId: string): Promise<void> {
    await this.#send(() => releaseClaim(money.em(), this.#nodeId, requestId));
  }

  async #settle(journal: Journal): Promise<void> {
    const records = journal.durable
      .slice(journal.settled)
      .map((requestId, index) =>
        reported({
          ...{ journalId: journal.id, leaseId: journal.leaseId, seq: journal.settled + index + 1 },
          ...{ walletId: this.#walletId, cost: PRICE, requestId },
        }),
      );
    const node = { ...SYSTEM_ACTOR, kind: 'NODE' as const, id: this.#nodeId };
    await this.#send(() => settle(money.em(), { node, records }));
    journal.settled = journal.durable.length;
  }

  /** How often the one key was charged, or will be. */
  get charges(): number {
    return this.#journals.reduce((sum, { durable }) => sum + durable.length, 0);
  }
}

interface Journal {
  id: string;
  leaseId: string | null;
  start: number;
  process: Process | undefined;
  /** Requests in flight. */
  open: string[];
  durable: string[];
  settled: number;
  /** How many charges stood there when the process began. */
  former: number;
}

type Action = 'start' | 'kill' | 'beat' | 'claim' | 'charge' | 'fail' | 'settle' | 'copies' | 'silence';
/** What comes together: single actions in a random order seldom bring a request to its charge. */
const PHRASES: readonly Action[][] = [
  ['beat'],
  ['claim', 'charge'],
  ['claim', 'fail'],
  ['claim'],
  ['charge'],
  ['kill', 'start'],
  ['settle', 'beat'],
  ['copies'],
  ['kill', 'silence', 'start'],
];

async function newWorld(): Promise<World> {
  const [{ walletId }, { nodeId, journalId }] = await Promise.all([
    money.wallet({ cash: 1_000n * PRICE }),
    money.node(),
  ]);
  const other = `${journalId} b`;
  await addJournal(money.em(), nodeId, other);
  const journals: Journal[] = [];
  for (const id of [journalId, other]) {
    await takePlace(money.em(), nodeId, id);
    const asked = { nodeId, journalId: id, walletId, keyId: null, requestNo: 1 };
    const lease = await requestLease(money.em(), { ...asked, need: PRICE, want: 20n * PRICE, waiting: 0n });
    const empty = { process: undefined, start: 0, open: [], durable: [], settled: 0, former: 0 };
    journals.push({ id, leaseId: lease.id, ...empty });
  }
  await takePlace(money.em(), nodeId, journalId);
  return new World(nodeId, walletId, journals);
}

it('charges a key at most once, whatever dies and whichever messages come again and late', async () => {
  // Mostly the first journal: the other one may begin only after a silence.
  const journal = fc.constantFrom(0, 0, 0, 1);
  const phrase = fc.tuple(fc.constantFrom(...PHRASES), journal);
  await fc.assert(
    fc.asyncProperty(fc.array(phrase, { minLength: 8, maxLength: 20 }), async (phrases) => {
      const world = await newWorld();
      await world.act(['start', 0]);
      for (const [actions, at] of phrases) {
        for (const what of actions) await world.act([what, at]);
        expect(world.charges).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  const row = await queryOne<{ count: number }>(money.em(), sql`select count(*)::int from usage_charge`);
  expect(row?.count).toBeGreaterThan(0);
}, 240_000);
