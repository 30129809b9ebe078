/**
 * Registration of node processes, and the Idempotency-Keys of processes that died: a key is charged at most
 * once however late or often messages arrive, and is free once the dead process's charges are settled.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPublicKey } from '@gateway/shared/sealing';
import { addJournal, openMoney, setCurrentJournal, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { reserveIdempotencyKey, releaseIdempotencyKey } from '../usage/idempotency.service.ts';
import { settle } from '../usage/settlement.service.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { heartbeat } from './contact.service.ts';
import { drainNode, nodeById } from './node.service.ts';
import { acknowledge } from './node.stream.ts';
import { decideRegistration } from './registration.rules.ts';
import { registerNode } from './registration.service.ts';

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
  /** Absent for an earlier release. */
  process?: { start: number; instanceId: string };
}

const processOf = (nodeId: string, journalId: string, start: number): Process => ({
  ...{ nodeId, journalId },
  process: { start, instanceId: randomUUID() },
});

const register = ({ nodeId, ...self }: Process): Promise<void> =>
  registerNode(money.em(), nodeId, { version: '1', region: null, publicKey, ...self });

const sendHeartbeat = (
  { nodeId, journalId, process }: Process,
  more: { formerSettled?: boolean; leaving?: boolean } = {},
): Promise<void> =>
  heartbeat(money.em(), nodeId, {
    ...{ journalId, instanceId: process?.instanceId, appliedRevision: 0, rps: '0', inflight: 0 },
    ...{ eventLoopP99Ms: 0, usageBacklog: 0, formerSettled: true, ...more },
  });

/** Makes the node count as offline. */
const silence = (nodeId: string): Promise<unknown> =>
  query(
    money.em(),
    sql`update data_plane_node set last_seen_at = last_seen_at - interval '21 seconds' where id = ${nodeId}`,
  );

/** A function that claims one Idempotency-Key of a new wallet, for a new request each time. */
async function claims() {
  const { walletId } = await money.wallet({ cash: 1_000n * PRICE });
  const texts = { route: '/v1/messages', keyDigest: 'key', fingerprint: 'body' };
  return async ({ nodeId, process }: Process): Promise<string | null> => {
    const asked = { nodeId, instanceId: process?.instanceId ?? null, walletId, ...texts };
    return (await reserveIdempotencyKey(money.em(), { ...asked, requestId: randomUUID() })).state;
  };
}

it('a late acknowledgement of a dead process does not change the revision that the node serves', async () => {
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
  // A node of an earlier release does not send its process id.
  await acknowledged({ nodeId, journalId }, 10);
  expect(await served()).toEqual({ appliedRevision: 10, lastAckError: null });
});

describe('an Idempotency-Key of a process that died', () => {
  it('is free once a later process on its journal has settled the earlier charges', async () => {
    const { nodeId, journalId } = await money.node();
    const [dead, next] = [processOf(nodeId, journalId, 1), processOf(nodeId, journalId, 4)];
    const claim = await claims();
    await register(dead);
    expect(await claim(dead)).toBe('CLAIMED');
    await register(next);
    expect(await claim(next)).toBe('IN_FLIGHT');
    await sendHeartbeat(next, { formerSettled: false });
    expect(await claim(next)).toBe('IN_FLIGHT');
    await sendHeartbeat(next);
    expect(await claim(next)).toBe('CLAIMED');
    await sendHeartbeat(next);
    expect(await claim(next)).toBe('IN_FLIGHT');
  });

  it('is not freed by a late heartbeat of the dead process', async () => {
    const { nodeId, journalId } = await money.node();
    const [dead, next] = [processOf(nodeId, journalId, 1), processOf(nodeId, journalId, 2)];
    const claim = await claims();
    await register(dead);
    await claim(dead);
    await register(next);
    await expect(sendHeartbeat(dead)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await claim(next)).toBe('IN_FLIGHT');
    const other = await claims();
    await expect(other(dead)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is not freed by a process on another journal, which does not know the charges', async () => {
    const { nodeId, journalId } = await money.node();
    const [dead, next] = [processOf(nodeId, journalId, 1), processOf(nodeId, `${journalId} b`, 1)];
    const claim = await claims();
    await register(dead);
    await claim(dead);
    await silence(nodeId);
    await register(next);
    await sendHeartbeat(next);
    expect(await claim(next)).toBe('IN_FLIGHT');
  });

  it('is freed after an earlier release by the first process that counts its starts', async () => {
    const { nodeId, journalId } = await money.node();
    const old: Process = { nodeId, journalId };
    const claim = await claims();
    await register(old);
    expect(await claim(old)).toBe('CLAIMED');
    await register(old);
    await sendHeartbeat(old);
    expect(await claim(old)).toBe('IN_FLIGHT');
    const next = processOf(nodeId, journalId, 7);
    await register(next);
    await sendHeartbeat(next);
    expect(await claim(next)).toBe('CLAIMED');
    await register(old);
    await sendHeartbeat(next);
    expect(await claim(old)).toBe('IN_FLIGHT');
  });
});

describe('a running process', () => {
  it('keeps its Idempotency-Keys and its draining state when its registration arrives twice', async () => {
    const { nodeId, journalId } = await money.node();
    const living = processOf(nodeId, journalId, 1);
    const claim = await claims();
    await register(living);
    await sendHeartbeat(living);
    await claim(living);
    await drainNode(money.em(), nodeId);
    await register(living);
    await sendHeartbeat(living);
    expect(await claim(living)).toBe('IN_FLIGHT');
    expect((await nodeById(money.em(), nodeId)).state).toBe('DRAINING');
  });

  it('blocks another process with its token until it has been silent', async () => {
    const { nodeId, journalId } = await money.node();
    const [first, second] = [processOf(nodeId, journalId, 3), processOf(nodeId, `${journalId} b`, 1)];
    const claim = await claims();
    await register(first);
    await claim(first);
    const refused = {
      code: 'CONFLICT',
      message: expect.stringContaining('its own node, token and DATA_DIR'),
    };
    await expect(register(second)).rejects.toMatchObject(refused);
    await expect(sendHeartbeat(second)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const other = await claims();
    await expect(other(second)).rejects.toMatchObject({ code: 'CONFLICT' });
    await silence(nodeId);
    await register(second);
    await sendHeartbeat(second);
    await expect(sendHeartbeat(first)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(register(first)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await claim(second)).toBe('IN_FLIGHT');
  });

  it('is replaced at once after its last heartbeat with `leaving`', async () => {
    const { nodeId, journalId } = await money.node();
    const [first, second] = [processOf(nodeId, journalId, 1), processOf(nodeId, `${journalId} b`, 1)];
    await register(first);
    await sendHeartbeat(first, { leaving: true });
    await register(second);
    await expect(sendHeartbeat(first, { leaving: true })).rejects.toMatchObject({ code: 'CONFLICT' });
    await sendHeartbeat(second);
  });

  it('is distinguished from a process on a copy of its folder', async () => {
    const { nodeId, journalId } = await money.node();
    const [one, copy] = [processOf(nodeId, journalId, 2), processOf(nodeId, journalId, 2)];
    const claim = await claims();
    await register(one);
    await claim(one);
    await expect(register(copy)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(sendHeartbeat(copy)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await claim(one)).toBe('IN_FLIGHT');
  });

  it('is the only one registered when many register at the same moment', async () => {
    const { nodeId, journalId } = await money.node();
    const all = Array.from({ length: 8 }, (_, at) => processOf(nodeId, `${journalId} ${at}`, 1));
    const started = await Promise.allSettled(all.map(register));
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it.each([
    [{ start: 0, instanceId: 'x' }, 'start'],
    [{ start: 1, instanceId: '' }, undefined],
    [{ start: 1, instanceId: 'x'.repeat(501) }, undefined],
  ])('is refused with the start and process id %o', async (process, field) => {
    const wrong = register({ ...(await money.node()), process });
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID', ...(field && { field: ['input', field] }) });
  });
});

describe('decideRegistration', () => {
  const JOURNALS = fc.constantFrom('a', 'b');
  const process = fc.record({ start: fc.integer({ min: 1, max: 4 }), instanceId: fc.constantFrom('x', 'y') });

  it('accepts only a later start on the journal, and no process beside another one that is online', () => {
    fc.assert(
      fc.property(
        ...[fc.nat(4), fc.option(fc.constantFrom('x', 'y')), fc.option(JOURNALS), fc.boolean(), JOURNALS],
        fc.option(process),
        (start, instanceId, nodeJournalId, isOnline, journalId, registering) => {
          const verdict = decideRegistration(
            { start, instanceId, nodeJournalId, isOnline },
            { journalId, process: registering },
          );
          const isLater = !registering || registering.start > start;
          const isFree = nodeJournalId === null || nodeJournalId === journalId || !isOnline;
          expect(verdict === 'NEW').toBe(isLater && isFree);
        },
      ),
    );
  });
});

/** If messages of dead processes counted, this many runs would find it in four of five cases. */
const RUNS = 150;

/** Journals with their successive processes, which all claim one Idempotency-Key. */
class World {
  readonly #sent: (() => Promise<unknown>)[] = [];
  readonly #journals: Journal[];
  readonly #walletId: string;
  readonly #nodeId: string;

  constructor(nodeId: string, walletId: string, journals: Journal[]) {
    this.#nodeId = nodeId;
    this.#walletId = walletId;
    this.#journals = journals;
  }

  async act([action, at]: readonly [Action, number]): Promise<void> {
    const journal = this.#journals[at % this.#journals.length] as Journal;
    const { process } = journal;
    if (action === 'resend') {
      for (const message of [...this.#sent]) await message().catch(() => null);
      return;
    }
    if (action === 'silence') return void (await silence(this.#nodeId));
    if (action === 'start') return this.#start(journal);
    if (!process) return;
    if (action === 'kill') [journal.process, journal.open] = [undefined, []];
    if (action === 'heartbeat') {
      const formerSettled = journal.settled >= journal.former;
      await this.#send(() => sendHeartbeat(process, { formerSettled }));
    }
    if (action === 'claim') await this.#claim(journal, process);
    if (action === 'charge') journal.durable.push(...journal.open.splice(0, 1));
    if (action === 'fail') for (const id of journal.open.splice(0, 1)) await this.#release(id);
    if (action === 'settle') await this.#settle(journal);
  }

  /** Sends a message and keeps it, so that it can be delivered again at any time. */
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
      ({ state } = await reserveIdempotencyKey(money.em(), { ...asked, ...texts, requestId }));
    });
    if (state === 'CLAIMED') journal.open.push(requestId);
  }

  async #release(requestId: string): Promise<void> {
    await this.#send(() => releaseIdempotencyKey(money.em(), this.#nodeId, requestId));
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

  /** Number of durable charges for the Idempotency-Key. */
  get charges(): number {
    return this.#journals.reduce((sum, { durable }) => sum + durable.length, 0);
  }
}

interface Journal {
  id: string;
  leaseId: string | null;
  start: number;
  process: Process | undefined;
  /** Request ids in progress. */
  open: string[];
  /** Request ids of charges in the journal. */
  durable: string[];
  /** Number of settled charges. */
  settled: number;
  /** Number of charges in the journal when the process started. */
  former: number;
}

type Action = 'start' | 'kill' | 'heartbeat' | 'claim' | 'charge' | 'fail' | 'settle' | 'resend' | 'silence';
/** Sequences of actions: single actions in random order seldom lead to a charge. */
const SEQUENCES: readonly Action[][] = [
  ['heartbeat'],
  ['claim', 'charge'],
  ['claim', 'fail'],
  ['claim'],
  ['charge'],
  ['kill', 'start'],
  ['settle', 'heartbeat'],
  ['resend'],
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
    await setCurrentJournal(money.em(), nodeId, id);
    const asked = { nodeId, journalId: id, walletId, keyId: null, requestNo: 1 };
    const lease = await requestLease(money.em(), { ...asked, need: PRICE, want: 20n * PRICE, waiting: 0n });
    const empty = { process: undefined, start: 0, open: [], durable: [], settled: 0, former: 0 };
    journals.push({ id, leaseId: lease.id, ...empty });
  }
  await setCurrentJournal(money.em(), nodeId, journalId);
  return new World(nodeId, walletId, journals);
}

it('an Idempotency-Key is charged at most once, whichever processes die or messages repeat', async () => {
  // Mostly the first journal: a process on the other one can register only after a silence.
  const journal = fc.constantFrom(0, 0, 0, 1);
  const sequence = fc.tuple(fc.constantFrom(...SEQUENCES), journal);
  await fc.assert(
    fc.asyncProperty(fc.array(sequence, { minLength: 8, maxLength: 20 }), async (sequences) => {
      const world = await newWorld();
      await world.act(['start', 0]);
      for (const [actions, at] of sequences) {
        for (const action of actions) await world.act([action, at]);
        expect(world.charges).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  const row = await queryOne<{ count: number }>(money.em(), sql`select count(*)::int from usage_charge`);
  expect(row?.count).toBeGreaterThan(0);
}, 240_000);
