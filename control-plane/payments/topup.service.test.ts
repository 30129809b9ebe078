/** Tests of one top-up in PostgreSQL: what its facts add up to, what is stored, posted, mailed and told. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { announceMail } from '../mail/mail.service.ts';
import { registry } from '../process/metrics.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { creditCash } from '../wallet/movements.ts';
import { walletById } from '../wallet/wallet.service.ts';
import type { TopUpRow } from './topup.entity.ts';
import { keepFact, lockPayment } from './topup.rows.ts';
import type { TopUpDetails } from './topup.rows.ts';
import { applyNews, createTopUp, recordCryptoTopUp } from './topup.service.ts';
import type { TopUpNews } from './topup.service.ts';
import type { ChainState, TopUpEvent } from './topup.rules.ts';

const DOLLAR = 1_000_000n;
const PAID: TopUpEvent = { type: 'PAID', amount: 25n * DOLLAR };
const NO_TOP_UP = 'top_01ARZ3NDEKTSV4RRFFQ69G5FAV';

let money: Money;
let listener: pg.Client;
const told: { topic: string; audience: string; id: string }[] = [];

beforeAll(async () => {
  money = await openMoney();
  listener = new pg.Client({ connectionString: money.url });
  await listener.connect();
  listener.on('notification', ({ payload }) => {
    const event = JSON.parse(payload ?? '{}') as (typeof told)[number];
    if (event.topic === 'topUpUpdated') told.push(event);
  });
  await listener.query('listen gateway_events');
  // Mails are queued, and nothing sends them.
  const mail = {
    smtpUrl: 'smtp://127.0.0.1:1',
    secretKey: 'a'.repeat(64),
    consoleUrl: 'https://console.example',
  };
  await announceMail(em(), mail);
});
afterAll(async () => {
  expect(await checkInvariants(em())).toEqual([]);
  await listener.end();
  await money.close();
});
beforeEach(() => {
  told.length = 0;
});

const em = () => money.em();

async function newTopUp(draft: Partial<Parameters<typeof createTopUp>[1]> = {}) {
  const { userId, walletId } = await money.wallet({});
  const id = await createTopUp(em(), { walletId, method: 'CARD', amount: 25n * DOLLAR, ...draft });
  const learn = (event: TopUpEvent | null, news: Partial<TopUpNews> = {}): Promise<TopUpRow> =>
    applyNews(em(), id, { events: event ? [event] : [], actor: SYSTEM_ACTOR, ...news });
  const cash = async (): Promise<bigint> => {
    const wallet = await walletById(em(), walletId);
    return (wallet?.cash ?? 0n) - (wallet?.receivable ?? 0n);
  };
  return { id, userId, walletId, learn, cash };
}

/** Reference, kind and description of what was posted, without the id of the top-up. */
async function postedFor(id: string): Promise<string[]> {
  const rows = await query<{ line: string }>(
    em(),
    sql`select replace(reference, ${`topup:${id}:`}, '') || ' ' || kind || ': ' || description as line
      from ledger_transaction where starts_with(reference, ${`topup:${id}:`}) order by at`,
  );
  return rows.map(({ line }) => line);
}

async function codeOf(answer: Promise<unknown>): Promise<string> {
  const error: unknown = await answer.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof UserFailure)) throw new Error(`No UserFailure: ${String(error)}`);
  return `${error.code}: ${error.message}`;
}

describe('a new top-up', () => {
  it('is in its first stage, and belongs to the owner of the wallet', async () => {
    const checkAt = new Date(Date.now() + 60_000);
    const { learn, userId, walletId } = await newTopUp({ checkAt, saveCard: true, returnPath: '/keys' });
    expect(await learn(null)).toMatchObject({
      ...{ userId, walletId, method: 'CARD', stage: 'CREATED', state: 'CREATED', amount: 25n * DOLLAR },
      ...{ automatic: false, playMoney: false, saveCard: true, returnPath: '/keys', checkAt },
      ...{ paid: null, credits: 0, credited: 0n, refunded: 0n, issue: null, paymentId: null },
    });
    const automatic = await newTopUp({ automatic: true });
    expect(await automatic.learn(null)).toMatchObject({ automatic: true, saveCard: false, checkAt: null });
  });

  it('is refused for an unknown wallet, and unknown ids have no news', async () => {
    const draft = { walletId: 'wal_none', method: 'CARD' as const, amount: DOLLAR };
    expect(await codeOf(createTopUp(em(), draft))).toMatch(/^NOT_FOUND: There is no such wallet/);
    const news = { events: [PAID], actor: SYSTEM_ACTOR };
    expect(await codeOf(applyNews(em(), NO_TOP_UP, news))).toMatch(/^NOT_FOUND: There is no such top-up/);
  });

  it('is refused with play money if no demo runs', async () => {
    const { walletId } = await money.wallet({});
    const draft = { walletId, method: 'CARD' as const, amount: DOLLAR, playMoney: true };
    expect(await codeOf(createTopUp(em(), draft))).toMatch(/^CONFLICT: The demo/);
  });
});

describe('a payment', () => {
  it('is credited once, mailed, counted and published', async () => {
    const { id, userId, learn, cash } = await newTopUp();
    const [before, mails] = [await countOf('TOP_UP_CARD', 'credit'), await mailsQueued()];
    for (let times = 0; times < 3; times += 1)
      expect(await learn(PAID)).toMatchObject({ state: 'CREDITED', credits: 1, credited: 25n * DOLLAR });
    expect(await cash()).toBe(25n * DOLLAR);
    expect(await postedFor(id)).toEqual(['credit TOP_UP_CARD: Top-up by card']);
    expect((await mailsQueued()) - mails).toBe(1);
    expect((await countOf('TOP_UP_CARD', 'credit')) - before).toBe(1);
    // Notifications of the test before may come late.
    const toldOf = () => told.filter((one) => one.id === id);
    await expect.poll(() => toldOf().length).toBe(3);
    expect(toldOf()[0]).toEqual({ topic: 'topUpUpdated', audience: userId, id });
  });

  it('is credited with an amount other than requested, and the difference is an issue', async () => {
    const { learn, cash } = await newTopUp();
    const paid: TopUpEvent = { type: 'PAID', amount: 24n * DOLLAR };
    expect(await learn(paid)).toMatchObject({ issue: 'AMOUNT_DIFFERS' });
    expect(await cash()).toBe(24n * DOLLAR);
    expect((await learn(paid, { details: { issue: null } })).issue).toBeNull();
    expect((await learn(paid)).issue).toBeNull();
    const equal = await newTopUp();
    expect((await equal.learn(PAID)).issue).toBeNull();
  });

  it.each(['SUSPENDED', 'DELETED'])(
    'is credited, with an issue, for an account that is %s',
    async (state) => {
      const { userId, learn, cash } = await newTopUp();
      await query(em(), sql`update users set state = ${state} where id = ${userId}`);
      const mails = await mailsQueued();
      expect(await learn(PAID)).toMatchObject({ state: 'CREDITED', issue: 'ACCOUNT_NOT_ACTIVE' });
      expect(await cash()).toBe(25n * DOLLAR);
      expect(await mailsQueued()).toBe(mails);
    },
  );

  it('is an error if it was posted with another amount, and changes nothing', async () => {
    const { id, walletId, learn } = await newTopUp();
    const other = { walletId, amount: 1n, actor: SYSTEM_ACTOR, description: 'test' };
    await creditCash(em(), { ...other, kind: 'ADJUSTMENT', reference: `topup:${id}:credit` });
    await expect(learn(PAID)).rejects.toThrow(`topup:${id}:credit was posted with another amount`);
    expect((await learn(null)).state).toBe('CREATED');
  });
});

describe('refunds and disputes', () => {
  const refund = (status: 'REQUESTED' | 'PENDING' | 'SUCCEEDED' | 'FAILED'): TopUpEvent => ({
    ...{ type: 'REFUND', id: `re_${status === 'REQUESTED' ? 'own' : 'theirs'}`, amount: 5n * DOLLAR, status },
  });

  it('debit the wallet under references of their own, and are returned if they fail or are won', async () => {
    const { id, learn, cash } = await newTopUp();
    const ids = (event: TopUpEvent): TopUpEvent =>
      'id' in event ? { ...event, id: `${event.id}_${id}` } : event;
    await learn(PAID);
    expect(await learn(ids(refund('SUCCEEDED')))).toMatchObject({ state: 'PARTIALLY_REFUNDED', issue: null });
    expect(await cash()).toBe(20n * DOLLAR);
    expect(await learn(ids(refund('FAILED')))).toMatchObject({ state: 'CREDITED', issue: 'REFUND_FAILED' });
    const dispute = { type: 'DISPUTE' as const, id: `dp_${id}`, amount: 10n * DOLLAR };
    expect(await learn({ ...dispute, status: 'OPEN' })).toMatchObject({ state: 'DISPUTED' });
    expect(await cash()).toBe(15n * DOLLAR);
    expect(await learn({ ...dispute, status: 'WON' })).toMatchObject({ state: 'CREDITED' });
    expect(await cash()).toBe(25n * DOLLAR);
    expect(await postedFor(id)).toEqual([
      'credit TOP_UP_CARD: Top-up by card',
      `refund:re_theirs_${id} REFUND: Refund of a top-up`,
      `refund:re_theirs_${id}:failed REFUND: Refund of a top-up that failed`,
      `dispute:dp_${id} DISPUTE_HOLD: Withdrawn by a dispute of a top-up`,
      `dispute:dp_${id}:won DISPUTE_RELEASE: Returned from a dispute of a top-up`,
    ]);
  });

  it('take more than the cash if they already happened, but not if they are requested', async () => {
    const { id, walletId, learn, cash } = await newTopUp();
    await learn(PAID);
    const big = { type: 'REFUND' as const, amount: 20n * DOLLAR };
    await learn({ ...big, id: `re_1_${id}`, status: 'SUCCEEDED' });
    const asked = learn(
      { ...big, id: `re_2_${id}`, amount: 6n * DOLLAR, status: 'REQUESTED' },
      { refunds: 'RETURN' },
    );
    expect(await codeOf(asked)).toMatch(
      /^INSUFFICIENT_BALANCE: Less than \$6\.00 of the wallet's cash is free/,
    );
    expect(await cash()).toBe(5n * DOLLAR);
    await learn({ ...big, id: `re_3_${id}`, status: 'SUCCEEDED' });
    expect(await walletById(em(), walletId)).toMatchObject({
      cash: 0n,
      receivable: 15n * DOLLAR,
      frozen: true,
    });
    const row = await queryOne(em(), sql`select id from top_up_refund where id = ${`re_2_${id}`}`);
    expect(row).toBeUndefined();
  });

  it('are kept with their highest state if their payment is not known yet, and applied later', async () => {
    const { id, learn, cash } = await newTopUp();
    const keep = (fact: Parameters<typeof keepFact>[2]) => keepFact(em(), `pi_${id}`, fact);
    const early = { type: 'REFUND' as const, id: `re_${id}`, amount: 5n * DOLLAR };
    for (const status of ['REQUESTED', 'SUCCEEDED', 'PENDING'] as const) await keep({ ...early, status });
    const failed = { type: 'REFUND' as const, id: `rf_${id}`, amount: 3n * DOLLAR };
    for (const status of ['FAILED', 'SUCCEEDED'] as const) await keep({ ...failed, status });
    const won = { type: 'DISPUTE' as const, id: `dp_${id}`, amount: 7n * DOLLAR };
    for (const status of ['OPEN', 'WON', 'LOST', 'NOTICE'] as const) await keep({ ...won, status });
    const lost = { type: 'DISPUTE' as const, id: `dl_${id}`, amount: 8n * DOLLAR };
    for (const status of ['NOTICE', 'LOST', 'OPEN'] as const) await keep({ ...lost, status });
    const row = await learn(PAID, { details: { paymentId: `pi_${id}` } });
    expect(row).toMatchObject({ state: 'DISPUTED', refunded: 5n * DOLLAR });
    expect(await cash()).toBe(12n * DOLLAR);
    const stored = await query(
      em(),
      sql`select id, status from top_up_refund where top_up_id = ${id}
        union all select id, status from top_up_dispute where top_up_id = ${id} order by 1`,
    );
    expect(stored).toEqual([
      { id: `dl_${id}`, status: 'LOST' },
      { id: `dp_${id}`, status: 'WON' },
      { id: `re_${id}`, status: 'SUCCEEDED' },
      { id: `rf_${id}`, status: 'FAILED' },
    ]);
  });

  it('are not missed if they are stored while their payment is credited', async () => {
    const { id, learn, cash } = await newTopUp();
    const [stored, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const storing = inTransaction(em(), async (inner) => {
      await lockPayment(inner, `pi_${id}`);
      const early = { type: 'REFUND' as const, id: `re_${id}`, amount: 5n * DOLLAR };
      await keepFact(inner, `pi_${id}`, { ...early, status: 'SUCCEEDED' });
      stored.resolve();
      await end.promise;
    });
    await stored.promise;
    const paid = learn(PAID, { details: { paymentId: `pi_${id}` } });
    const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    const waits = expect.poll(() => query(em(), waiting)).toHaveLength(1);
    await Promise.race([paid, waits]);
    end.resolve();
    await storing;
    expect(await paid).toMatchObject({ state: 'PARTIALLY_REFUNDED', refunded: 5n * DOLLAR });
    expect(await cash()).toBe(20n * DOLLAR);
  });

  it('end the repetitions of a refund once it is decided', async () => {
    const { id, learn } = await newTopUp();
    await learn(PAID);
    const event = { type: 'REFUND' as const, id: `re_${id}`, amount: DOLLAR };
    await learn({ ...event, status: 'REQUESTED' });
    const checkOf = () =>
      queryOne<{ due: boolean }>(
        em(),
        sql`select check_at is not null as due from top_up_refund where id = ${`re_${id}`}`,
      );
    await query(em(), sql`update top_up_refund set check_at = now() where id = ${`re_${id}`}`);
    await learn({ ...event, status: 'PENDING' });
    expect(await checkOf()).toEqual({ due: true });
    await learn({ ...event, status: 'SUCCEEDED' });
    expect(await checkOf()).toEqual({ due: false });
  });
});

describe('the details of a top-up', () => {
  it('are kept when later news leave them out, and the page is closed with the payment', async () => {
    const { id, learn } = await newTopUp();
    const details: TopUpDetails = {
      ...{ sessionId: `cs_${id}`, paymentId: `pi_${id}`, checkoutUrl: 'https://pay.example/1' },
      ...{ receiptUrl: 'https://pay.example/r', failureCode: 'code', failureMessage: 'message' },
      expiresAt: new Date('2030-01-01T00:00:00Z'),
    };
    const open: TopUpEvent = { type: 'PROGRESS', stage: 'AWAITING_PAYMENT' };
    expect(await learn(open, { details })).toMatchObject({ state: 'AWAITING_PAYMENT', ...details });
    expect(await learn(null)).toMatchObject(details);
    expect(await learn(PAID)).toMatchObject({ ...details, checkoutUrl: null });
  });

  it('name an issue until it is resolved', async () => {
    const { learn } = await newTopUp();
    expect((await learn(null, { details: { issue: 'NOT_AT_PROCESSOR' } })).issue).toBe('NOT_AT_PROCESSOR');
    expect((await learn(null)).issue).toBe('NOT_AT_PROCESSOR');
    expect((await learn(null, { details: { issue: null } })).issue).toBeNull();
  });

  it('schedule one more comparison after the payment, and none after an end without payment', async () => {
    const checkAt = new Date(Date.now() + 600_000);
    const paid = await newTopUp({ checkAt });
    expect((await paid.learn({ type: 'PROGRESS', stage: 'AWAITING_PAYMENT' })).checkAt).toEqual(checkAt);
    const soon = (await paid.learn(PAID)).checkAt;
    expect(soon?.getTime()).toBeLessThan(checkAt.getTime());
    expect((await paid.learn(PAID)).checkAt).toEqual(soon);
    for (const stage of ['EXPIRED', 'FAILED'] as const) {
      const over = await newTopUp({ checkAt });
      expect(await over.learn({ type: 'PROGRESS', stage })).toMatchObject({ state: stage, checkAt: null });
    }
  });
});

describe('a deposit', () => {
  it('is one top-up per reference, credited once, and again only after the chain took it back', async () => {
    const { walletId } = await money.wallet({});
    const report = (state: ChainState): Promise<TopUpRow> =>
      recordCryptoTopUp(em(), {
        ...{ walletId, reference: `deposit of ${walletId}`, amount: 7n * DOLLAR, state, actor: SYSTEM_ACTOR },
      });
    const { id } = await report('SEEN');
    expect(await report('CONFIRMING')).toMatchObject({
      id,
      state: 'CONFIRMING',
      method: 'CRYPTO',
      credited: 0n,
    });
    const [before, mails] = [await countOf('TOP_UP_CRYPTO', 'credit'), await mailsQueued()];
    for (let times = 0; times < 2; times += 1)
      expect(await report('CREDITED')).toMatchObject({ id, state: 'CREDITED', credits: 1, checkAt: null });
    expect((await walletById(em(), walletId))?.cash).toBe(7n * DOLLAR);
    expect(await report('ORPHANED')).toMatchObject({ state: 'ORPHANED', credited: 0n, issue: 'REVERSED' });
    expect((await walletById(em(), walletId))?.cash).toBe(0n);
    await report('SEEN');
    expect(await report('CREDITED')).toMatchObject({ state: 'CREDITED', credits: 2 });
    expect((await walletById(em(), walletId))?.cash).toBe(7n * DOLLAR);
    expect(await postedFor(id)).toEqual([
      'credit TOP_UP_CRYPTO: Top-up on a blockchain',
      'reversal:1 TOP_UP_CRYPTO: Top-up that left the blockchain',
      'credit:2 TOP_UP_CRYPTO: Top-up on a blockchain',
    ]);
    expect((await countOf('TOP_UP_CRYPTO', 'credit')) - before).toBe(2);
    expect((await mailsQueued()) - mails).toBe(2);
  });

  it('is refused for an unknown wallet', async () => {
    const deposit = { walletId: 'wal_none', reference: 'nobody', amount: DOLLAR, actor: SYSTEM_ACTOR };
    expect(await codeOf(recordCryptoTopUp(em(), { ...deposit, state: 'SEEN' }))).toMatch(/^NOT_FOUND/);
  });
});

/** Movements that the metrics count. */
async function countOf(kind: string, direction: string): Promise<number> {
  const metric = await registry.getSingleMetric('gateway_payment_movements_total')?.get();
  const found = metric?.values.find(
    ({ labels }) => labels['kind'] === kind && labels['direction'] === direction,
  );
  return found?.value ?? 0;
}

async function mailsQueued(): Promise<number> {
  const count = sql`select count(*)::integer as count from mail_outbox`;
  return (await queryOne<{ count: number }>(em(), count))?.count ?? 0;
}
