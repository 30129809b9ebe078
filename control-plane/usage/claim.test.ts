import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { query, sql } from '../sql.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { judgeClaim } from './claim.rules.ts';
import { claimRequest, pruneClaims, releaseClaim } from './claim.service.ts';
import type { Claim } from './claim.service.ts';
import { settle } from './settlement.service.ts';

const PRICE = 100n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  await money.close();
});

let number = 0;
interface Setting {
  claim: Claim;
  journalId: string;
}

async function setting(): Promise<Setting> {
  const [{ walletId }, { nodeId, journalId }] = await Promise.all([
    money.wallet({ cash: 50n * PRICE }),
    money.node(),
  ]);
  const requestId = `request ${(number += 1)}`;
  const texts = { route: '/v1/chat/completions', keyDigest: 'key', fingerprint: 'body', requestId };
  return { claim: { nodeId, instanceId: null, walletId, ...texts }, journalId };
}

const claim = (asked: Claim): ReturnType<typeof claimRequest> => claimRequest(money.em(), asked);

async function report({ claim: asked, journalId }: Setting, cost: bigint): Promise<void> {
  const { walletId, nodeId, requestId } = asked;
  const request = { nodeId, journalId, walletId, keyId: null, requestNo: 1, need: PRICE, want: PRICE };
  const place =
    cost > 0n
      ? { journalId, seq: 1, leaseId: (await requestLease(money.em(), { ...request, waiting: 0n })).id }
      : { journalId: null, seq: null, leaseId: null, status: 'FAILED' as const };
  const records = [reported({ ...place, requestId, walletId, cost })];
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
}

describe('an Idempotency-Key', () => {
  it('of 30 requests at once goes to exactly one, which may ask again', async () => {
    const { claim: asked } = await setting();
    const all = Array.from({ length: 30 }, (_, at) => ({ ...asked, requestId: `${asked.requestId} ${at}` }));
    const answers = await Promise.all(all.map((each) => claim(each)));
    const winners = all.filter((_, at) => answers[at]?.state === 'CLAIMED');
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ state }) => state === 'IN_FLIGHT')).toHaveLength(29);
    const [winner] = winners;
    expect(await claim(winner ?? asked)).toMatchObject({ state: 'CLAIMED' });
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(1);
  });

  it('is done once its request was charged: the answer names the request and its cost', async () => {
    const of = await setting();
    await claim(of.claim);
    await report(of, PRICE);
    const done = { state: 'DONE', requestId: of.claim.requestId, cost: PRICE };
    expect(await claim({ ...of.claim, requestId: 'another' })).toEqual(done);
    await releaseClaim(money.em(), of.claim.nodeId, of.claim.requestId);
    expect(await claim({ ...of.claim, requestId: 'another' })).toEqual(done);
  });

  it('is refused for another body, free for another path and for another wallet', async () => {
    const { claim: asked } = await setting();
    const { claim: other } = await setting();
    await claim(asked);
    expect(await claim({ ...asked, requestId: 'r1', fingerprint: 'x' })).toMatchObject({ state: 'MISMATCH' });
    expect(await claim({ ...asked, requestId: 'r2', route: '/v1/messages' })).toMatchObject({
      state: 'CLAIMED',
    });
    expect(await claim(other)).toMatchObject({ state: 'CLAIMED' });
  });

  it('is free again when its request failed, whether the node says so or the usage log', async () => {
    const said = await setting();
    await claim(said.claim);
    await releaseClaim(money.em(), 'another node', said.claim.requestId);
    expect(await claim({ ...said.claim, requestId: 'later' })).toMatchObject({ state: 'IN_FLIGHT' });
    await releaseClaim(money.em(), said.claim.nodeId, said.claim.requestId);
    expect(await claim({ ...said.claim, requestId: 'later' })).toMatchObject({ state: 'CLAIMED' });
    const logged = await setting();
    await claim(logged.claim);
    await report(logged, 0n);
    expect(await claim({ ...logged.claim, requestId: 'later too' })).toMatchObject({ state: 'CLAIMED' });
  });

  it('is free when its request was released before its claim came: nobody would free it later', async () => {
    const { claim: late } = await setting();
    await releaseClaim(money.em(), late.nodeId, late.requestId);
    await expect(claim(late)).rejects.toMatchObject({ code: 'CONFLICT' });
    const next = { ...late, requestId: `${late.requestId} next` };
    expect(await claim(next)).toMatchObject({ state: 'CLAIMED' });
    await releaseClaim(money.em(), late.nodeId, late.requestId);
    await expect(claim(late)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await claim({ ...next, requestId: 'third' })).toMatchObject({ state: 'IN_FLIGHT' });
  });

  it('stays with nobody when claim and release of one request come at the same moment', async () => {
    const settings = await Promise.all(Array.from({ length: 20 }, () => setting()));
    await Promise.all(
      settings.flatMap(({ claim: asked }) => [
        claim(asked).catch(() => undefined),
        releaseClaim(money.em(), asked.nodeId, asked.requestId),
      ]),
    );
    for (const { claim: asked } of settings)
      expect(await claim({ ...asked, requestId: `${asked.requestId} b` })).toMatchObject({
        state: 'CLAIMED',
      });
  });

  it('is forgotten after a day', async () => {
    const { claim: asked } = await setting();
    await claim(asked);
    const { requestId } = asked;
    await query(
      money.em(),
      sql`update request_claim set claimed_ms = watched_ms() - ${25 * 3_600_000} where request_id =
        ${requestId}`,
    );
    await releaseClaim(money.em(), asked.nodeId, 'released long ago');
    await query(
      money.em(),
      sql`update request_release set released_at = released_at - interval '25 hours' where request_id =
        'released long ago'`,
    );
    expect(await pruneClaims(money.em())).toBe(2);
    expect(await claim({ ...asked, requestId: `${requestId} b` })).toMatchObject({ state: 'CLAIMED' });
  });

  it('cannot be claimed for nobody, or with endless texts', async () => {
    const { claim: asked } = await setting();
    await expect(claim({ ...asked, walletId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(claim({ ...asked, route: 'x'.repeat(600) })).rejects.toMatchObject({ code: 'INVALID' });
  });
});

describe('the rule', () => {
  it('never gives a charged key away, whatever else is the case', () => {
    const asked = { requestId: 'new', fingerprint: 'body' };
    for (const fingerprint of ['body', 'other'])
      for (const abandoned of [false, true])
        for (const succeeded of [false, true]) {
          const usage = { cost: 1n, succeeded };
          const standing = { requestId: 'old', fingerprint, expired: false, usage, abandoned };
          expect(judgeClaim(standing, asked)).toBe(fingerprint === 'body' ? 'DONE' : 'MISMATCH');
        }
  });
});
