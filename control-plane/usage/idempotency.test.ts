/** Tests of idempotency records in PostgreSQL: reserving, releasing and pruning Idempotency-Keys. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { query, sql } from '../database/sql.ts';
import { requestLease } from '../wallet/lease.service.ts';
import {
  pruneIdempotencyRecords,
  releaseIdempotencyKey,
  reserveIdempotencyKey,
} from './idempotency.service.ts';
import type { Reservation, ReservationAnswer } from './idempotency.service.ts';
import { settle } from './settlement.service.ts';

const PRICE = 100n;
const HOUR_MS = 3_600_000;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  await money.close();
});

let number = 0;

/** A reservation of a new wallet on a new node, with the node's journal. */
async function setting(more: Partial<Reservation> = {}) {
  const [{ walletId }, { nodeId, journalId }] = await Promise.all([
    money.wallet({ cash: 50n * PRICE }),
    money.node(),
  ]);
  const requestId = `request ${(number += 1)}`;
  const texts = { route: '/v1/chat/completions', keyDigest: 'key', fingerprint: 'body', requestId };
  return { reservation: { nodeId, instanceId: null, walletId, ...texts, ...more }, journalId };
}
type Setting = Awaited<ReturnType<typeof setting>>;

const reserve = (reservation: Reservation): Promise<ReservationAnswer> =>
  reserveIdempotencyKey(money.em(), reservation);

const release = ({ nodeId }: Reservation, requestId: string): Promise<void> =>
  releaseIdempotencyKey(money.em(), nodeId, requestId);

/** Settles a record of the request: a charge of `cost`, or a free request. */
async function report(
  { reservation, journalId }: Setting,
  { cost, status }: { cost: bigint; status: 'SUCCEEDED' | 'FAILED' },
): Promise<void> {
  const { walletId, nodeId, requestId } = reservation;
  const request = { nodeId, journalId, walletId, keyId: null, requestNo: 1, need: PRICE, want: PRICE };
  const position =
    cost > 0n
      ? { journalId, seq: 1, leaseId: (await requestLease(money.em(), { ...request, waiting: 0n })).id }
      : { journalId: null, seq: null, leaseId: null };
  const records = [reported({ ...position, status, requestId, walletId, cost })];
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
}

/** Sets the age of the request's record, by the uptime clock. */
const age = ({ requestId }: Reservation, hours: number) =>
  query(
    money.em(),
    sql`update request_claim set claimed_ms = watched_ms() - ${Math.round(hours * HOUR_MS)}::bigint
      where request_id = ${requestId}`,
  );

describe('reserving an Idempotency-Key', () => {
  it('gives the key to exactly one of 30 concurrent requests, which may reserve it again', async () => {
    const { reservation } = await setting();
    const all = Array.from({ length: 30 }, (_, at) => ({
      ...reservation,
      requestId: `${reservation.requestId} ${at}`,
    }));
    const answers = await Promise.all(all.map((each) => reserve(each)));
    const winners = all.filter((_, at) => answers[at]?.state === 'CLAIMED');
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ state }) => state === 'IN_FLIGHT')).toHaveLength(29);
    const [winner] = winners;
    expect(await reserve(winner ?? reservation)).toMatchObject({ state: 'CLAIMED' });
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(1);
  });

  it('answers with the request that has the key, without a cost while it is in flight', async () => {
    const { reservation } = await setting();
    const claimed = { state: 'CLAIMED', requestId: reservation.requestId, cost: null };
    expect(await reserve(reservation)).toEqual(claimed);
    expect(await reserve(reservation)).toEqual(claimed);
    const other = { ...reservation, requestId: `${reservation.requestId} other` };
    expect(await reserve(other)).toEqual({ ...claimed, state: 'IN_FLIGHT' });
    expect(await reserve({ ...other, fingerprint: 'x' })).toEqual({ ...claimed, state: 'MISMATCH' });
  });

  it('answers DONE with the request and its cost after it was charged, also after a release', async () => {
    const of = await setting();
    await reserve(of.reservation);
    await report(of, { cost: PRICE, status: 'SUCCEEDED' });
    const done = { state: 'DONE', requestId: of.reservation.requestId, cost: PRICE };
    expect(await reserve({ ...of.reservation, requestId: 'another' })).toEqual(done);
    await release(of.reservation, of.reservation.requestId);
    expect(await reserve({ ...of.reservation, requestId: 'another' })).toEqual(done);
  });

  it('answers DONE after a request that succeeded at no cost', async () => {
    const of = await setting();
    await reserve(of.reservation);
    await report(of, { cost: 0n, status: 'SUCCEEDED' });
    const { requestId } = of.reservation;
    const done = { state: 'DONE', requestId, cost: 0n };
    expect(await reserve({ ...of.reservation, requestId: 'another' })).toEqual(done);
  });

  it('treats the same key on another path or of another wallet as another key', async () => {
    const [{ reservation }, { reservation: other }] = [await setting(), await setting()];
    await reserve(reservation);
    const elsewhere = { ...reservation, requestId: 'elsewhere', route: '/v1/messages' };
    expect(await reserve(elsewhere)).toMatchObject({ state: 'CLAIMED' });
    expect(await reserve(other)).toMatchObject({ state: 'CLAIMED' });
  });

  it('accepts texts of 1 to 512 characters, and refuses others and unknown wallets', async () => {
    const { reservation } = await setting();
    for (const name of ['route', 'keyDigest', 'fingerprint', 'requestId'] as const) {
      for (const text of ['', 'x'.repeat(513)]) {
        await expect(reserve({ ...reservation, [name]: text })).rejects.toMatchObject({
          code: 'INVALID',
          message: expect.stringContaining('1 to 512'),
        });
      }
      const { reservation: longest } = await setting({ [name]: 'x'.repeat(512) });
      expect(await reserve(longest)).toMatchObject({ state: 'CLAIMED' });
    }
    await expect(reserve({ ...reservation, walletId: 'wal_none' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      field: ['input', 'walletId'],
      message: expect.stringContaining('Unknown wallet'),
    });
  });
});

describe('releasing an Idempotency-Key', () => {
  it('frees the key for another request, body and node', async () => {
    const { reservation } = await setting();
    await reserve(reservation);
    await release(reservation, reservation.requestId);
    const { nodeId } = await money.node();
    const later = { ...reservation, nodeId, fingerprint: 'x', requestId: `${reservation.requestId} later` };
    expect(await reserve(later)).toMatchObject({ state: 'CLAIMED', requestId: later.requestId });
    // The first node may not release the key of the second.
    await release(reservation, later.requestId);
    const third = { ...reservation, requestId: `${reservation.requestId} third` };
    expect(await reserve(third)).toMatchObject({ state: 'MISMATCH', requestId: later.requestId });
  });

  it('is not needed after the usage log shows a failed request', async () => {
    const of = await setting();
    await reserve(of.reservation);
    await report(of, { cost: 0n, status: 'FAILED' });
    const later = { ...of.reservation, requestId: `${of.reservation.requestId} later` };
    expect(await reserve(later)).toMatchObject({ state: 'CLAIMED' });
  });

  it('is ignored from a node other than the one that reserved the key', async () => {
    const { reservation } = await setting();
    await reserve(reservation);
    await release({ ...reservation, nodeId: 'another node' }, reservation.requestId);
    const later = { ...reservation, requestId: `${reservation.requestId} later` };
    expect(await reserve(later)).toMatchObject({ state: 'IN_FLIGHT' });
  });

  it('refuses a reservation of the same request that arrives later', async () => {
    const { reservation: late } = await setting();
    await release(late, late.requestId);
    await expect(reserve(late)).rejects.toMatchObject({ code: 'CONFLICT' });
    const next = { ...late, requestId: `${late.requestId} next` };
    expect(await reserve(next)).toMatchObject({ state: 'CLAIMED' });
    await release(late, late.requestId);
    await expect(reserve(late)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await reserve({ ...next, requestId: 'third' })).toMatchObject({ state: 'IN_FLIGHT' });
  });

  it('leaves the key free when reservation and release arrive at the same moment', async () => {
    const settings = await Promise.all(Array.from({ length: 20 }, () => setting()));
    await Promise.all(
      settings.flatMap(({ reservation }) => [
        reserve(reservation).catch(() => undefined),
        release(reservation, reservation.requestId),
      ]),
    );
    for (const { reservation } of settings) {
      const next = { ...reservation, requestId: `${reservation.requestId} next` };
      expect(await reserve(next)).toMatchObject({ state: 'CLAIMED' });
    }
  });

  it('accepts a request id of 1 to 512 characters, and refuses others', async () => {
    const { reservation: late } = await setting({ requestId: 'y'.repeat(512) });
    for (const id of ['', 'x'.repeat(513)])
      await expect(release(late, id)).rejects.toMatchObject({
        code: 'INVALID',
        field: ['input', 'requestId'],
        message: expect.stringContaining('1 to 512'),
      });
    await release(late, late.requestId);
    await expect(reserve(late)).rejects.toMatchObject({
      code: 'CONFLICT',
      field: ['input', 'requestId'],
      message: expect.stringContaining('was released'),
    });
  });
});

describe('an idempotency record', () => {
  it('is kept for a day, expires before it is pruned, and begins again with the next request', async () => {
    const { reservation } = await setting();
    await reserve(reservation);
    await age(reservation, 23.9);
    await pruneIdempotencyRecords(money.em());
    const next = { ...reservation, requestId: `${reservation.requestId} next` };
    expect(await reserve(next)).toMatchObject({ state: 'IN_FLIGHT' });
    await age(reservation, 24.1);
    expect(await reserve(next)).toMatchObject({ state: 'CLAIMED' });
    expect(await pruneIdempotencyRecords(money.em())).toBe(0);
    expect(await reserve({ ...reservation, requestId: 'third' })).toMatchObject({ state: 'IN_FLIGHT' });
    await age(next, 48);
    expect(await pruneIdempotencyRecords(money.em())).toBe(1);
  });

  it('is pruned after a day together with releases of that age', async () => {
    const { reservation } = await setting();
    await reserve(reservation);
    await age(reservation, 25);
    await release(reservation, 'released long ago');
    await query(
      money.em(),
      sql`update request_release set released_at = released_at - interval '25 hours' where request_id =
        'released long ago'`,
    );
    expect(await pruneIdempotencyRecords(money.em())).toBe(2);
    const next = { ...reservation, requestId: `${reservation.requestId} next` };
    expect(await reserve(next)).toMatchObject({ state: 'CLAIMED' });
  });

  it.each([10, -10])('is kept when the clock of PostgreSQL jumps by %d years', async (years) => {
    const { reservation } = await setting();
    await reserve(reservation);
    // Moving the stored time back has the same effect as a clock that jumps ahead.
    await query(
      money.em(),
      sql`update request_claim set claimed_at = claimed_at - ${years} * interval '1 year'
        where request_id = ${reservation.requestId}`,
    );
    const next = { ...reservation, requestId: `${reservation.requestId} ${years}` };
    expect(await reserve(next)).toMatchObject({ state: 'IN_FLIGHT' });
    expect(await pruneIdempotencyRecords(money.em())).toBe(0);
  });
});
