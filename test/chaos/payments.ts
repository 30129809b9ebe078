/**
 * Payments by card in a chaos run: customers pay, are refunded, dispute, and are topped up automatically
 * while webhooks are lost. Afterwards the ledger is compared with the books of the card processor.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CardHouse, CardObject } from '../house/cards.ts';
import type { Customer } from '../house.ts';
import type { Environment } from './environment.ts';
import { rowsOf } from './environment.ts';
import type { Random } from './random.ts';
import { compareAll, comparisonsOf } from './settle.ts';

/** Amounts moved by payments, and the difference between ledger and processor. */
export interface PaymentReport {
  /** Payments at the processor, and how many of them were automatic. */
  payments: number;
  automatic: number;
  refunds: number;
  disputes: number;
  /** Sum over top-ups of the difference between ledger and processor, in micro-USD. Must be 0. */
  differenceMicros: bigint;
  /** Top-ups that differ, or are still open although they were paid. Must be empty. */
  findings: string[];
}

/** A customer who pays by card. */
export interface Payer extends Customer {
  /** Whether the wallet is topped up automatically; otherwise its payments are refunded and disputed. */
  isAutomatic: boolean;
}

const AMOUNTS = ['5', '12.34', '25'] as const;
const PAUSE_MS = [100, 700] as const;
const RETRY_MS = 200;
const MICROS_PER_CENT = 10_000n;
/** Number of comparisons of all top-ups, as long as a difference remains. */
const ROUNDS_MAX = 3;
const PAGE = 100;
/** Faults of webhooks; each lasts until the next payment. */
const WEBHOOK_FAULTS: readonly [Record<string, number>, ...Record<string, number>[]] = [
  { drop: 0, duplicates: 0, delayMs: 0, reorder: 0 },
  { drop: 3 },
  { duplicates: 2 },
  { delayMs: 700 },
  { reorder: 4 },
];

/** The first payment of a payer, before any fault. The one with automatic top-ups saves the card. */
export async function payFirst({ cards }: Environment, payer: Payer): Promise<void> {
  await cards.pay(payer, '5', { saveCard: payer.isAutomatic });
}

/** Pays, refunds and disputes until `running` returns false. Calls that fail are repeated or given up. */
export async function keepPaying(
  { house, cards }: Environment,
  payer: Payer,
  { random, running }: { random: Random; running(): boolean },
): Promise<void> {
  const untilDone = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    while (running()) {
      const done = await work().then(
        (value) => ({ value }),
        () => undefined,
      );
      if (done) return done.value;
      await sleep(RETRY_MS);
    }
    return undefined;
  };
  if (payer.isAutomatic) {
    const settings = { enabled: true, threshold: '2', amount: '5', monthlyCap: '1000' };
    await untilDone(() => payer.api.mutate('autoTopUpSet', settings, 'wallet { id }'));
    return;
  }
  while (running()) {
    await cards.control('faults', random.pick(WEBHOOK_FAULTS)).catch(() => undefined);
    const once = { idempotencyKey: randomBytes(8).toString('hex') };
    const amount = random.pick(AMOUNTS);
    const begun = await untilDone(() => cards.begin(payer, amount, once));
    await sleep(random.between(...PAUSE_MS));
    if (begun?.page && random.next() < 0.9) {
      await untilDone(() => cards.press(begun.page));
      await takeBack({ cards, random, topUpId: begun.id });
      if (random.next() < 0.4) {
        const refund = { topUpId: begun.id, amount: '1.23', reason: 'chaos', ...once };
        // Refused while the payment is not credited, or if the cash is not there.
        await house.admin.mutate('adminTopUpRefund', refund, 'topUp { id }').catch(() => undefined);
      }
    }
    await sleep(random.between(...PAUSE_MS));
  }
}

/** Some payments are refunded or disputed at the processor, without a call of the control plane. */
async function takeBack({
  cards,
  random,
  topUpId,
}: {
  cards: CardHouse;
  random: Random;
  topUpId: string;
}): Promise<void> {
  const way = random.pick(['none', 'refund', 'dispute', 'win', 'lose'] as const);
  if (way === 'none') return;
  try {
    const { data } = await cards.ask(`payment_intents?limit=${PAGE}`);
    const payment = data.find((one) => topUpOf(one) === topUpId);
    if (!payment) return;
    if (way === 'refund') return void (await cards.control(`${payment.id}/refund`, { cents: 200 }));
    const dispute = await cards.control(`${payment.id}/dispute`, { cents: 250 });
    await sleep(random.between(...PAUSE_MS));
    if (way !== 'dispute') await cards.control(`${dispute.id}/${way}`);
  } catch {
    // The processor was killed, perhaps after the change.
  }
}

/**
 * Lets the control plane compare every top-up with the processor, and again if a difference remains. Throws
 * if it does not compare them.
 */
export async function settlePayments(environment: Environment): Promise<void> {
  await environment.cards.control('faults', { drop: 0, duplicates: 0, delayMs: 0, reorder: 0 });
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    await compareAll(comparisonsOf(environment));
    const { differenceMicros, findings } = await paymentReport(environment);
    if (differenceMicros === 0n && findings.length === 0) return;
  }
}

/** Compares each top-up with what the processor has of it. */
export async function paymentReport(environment: Environment): Promise<PaymentReport> {
  const { cards } = environment;
  const payments = await allOf(cards, 'payment_intents');
  const refunds = await allOf(cards, 'refunds');
  const disputes = await allOf(cards, 'disputes');
  const net = netOf({ payments, refunds, disputes });
  const booked = await rowsOf<Booked>(
    environment,
    `select u.id, u.state, u.automatic, coalesce(-sum(e.amount), 0)::text as sum from top_up u
      left join ledger_transaction t on starts_with(t.reference, 'topup:' || u.id || ':')
      left join ledger_entry e on e.transaction_id = t.id and e.account_id = 'funding'
      where u.method = 'CARD' group by u.id`,
  );
  let differenceMicros = 0n;
  const findings: string[] = [];
  for (const { id, state, sum } of booked) {
    const wanted = net.get(id);
    const off = (wanted ?? 0n) - BigInt(sum);
    differenceMicros += off < 0n ? -off : off;
    const isOpen = state === 'CREATED' || state === 'AWAITING_PAYMENT';
    if (off === 0n && !(isOpen && wanted !== undefined)) continue;
    findings.push(`top-up ${id} is ${state} with ${sum} micro-USD, and ${wanted ?? 0n} at the processor`);
    findings.push(await detailsOf(environment, id, { payments, refunds, disputes }));
  }
  const known = new Set(booked.map(({ id }) => id));
  for (const id of net.keys())
    if (!known.has(id)) findings.push(`the processor was paid for ${id}, which is unknown`);
  const automatic = booked.filter((row) => row.automatic && net.has(row.id)).length;
  const counts = { payments: payments.length, refunds: refunds.length, disputes: disputes.length };
  return { ...counts, automatic, differenceMicros, findings };
}

/** The facts of both sides about a top-up that differs, as JSON. */
async function detailsOf(environment: Environment, id: string, books: Books): Promise<string> {
  const [here] = await rowsOf<object>(
    environment,
    `select issue, check_at, payment_id, session_id,
      (select json_agg(d) from top_up_dispute d where d.payment_id = u.payment_id) as disputes,
      (select json_agg(r) from top_up_refund r where r.payment_id = u.payment_id) as refunds,
      (select json_agg(c) from payment_correction c where c.top_up_id = u.id) as corrections,
      (select json_agg(json_build_array(type, outcome, received_at)) from payment_event e
        where e.top_up_id = u.id) as events
      from top_up u where id = $1`,
    [id],
  );
  const ids = new Set(books.payments.filter((one) => topUpOf(one) === id).map((one) => one.id));
  const taken = [...books.refunds, ...books.disputes];
  const there = taken.filter((one) => ids.has(String(one['payment_intent'])));
  return JSON.stringify({ here, there });
}

interface Booked {
  id: string;
  state: string;
  automatic: boolean;
  /** Micro-USD. */
  sum: string;
}

/** Sum of the wallet's payments at the processor after refunds and disputes, in micro-USD. */
export async function paidByCard(environment: Environment, walletId: string): Promise<bigint> {
  const [payments, refunds, disputes] = await Promise.all(
    ['payment_intents', 'refunds', 'disputes'].map((kind) => allOf(environment.cards, kind)),
  );
  const net = netOf({ payments: payments ?? [], refunds: refunds ?? [], disputes: disputes ?? [] });
  const rows = await rowsOf<{ id: string }>(environment, 'select id from top_up where wallet_id = $1', [
    walletId,
  ]);
  return rows.reduce((sum, { id }) => sum + (net.get(id) ?? 0n), 0n);
}

interface Books {
  payments: readonly CardObject[];
  refunds: readonly CardObject[];
  disputes: readonly CardObject[];
}

/** Micro-USD that the processor keeps, by top-up. */
function netOf({ payments, refunds, disputes }: Books): Map<string, bigint> {
  const microsOf = (cents: unknown): bigint => BigInt(Number(cents)) * MICROS_PER_CENT;
  const net = new Map<string, bigint>();
  const owners = new Map(payments.map((payment) => [payment.id, topUpOf(payment)]));
  const book = (id: string | undefined, micros: bigint): void => {
    if (id !== undefined) net.set(id, (net.get(id) ?? 0n) + micros);
  };
  for (const payment of payments)
    if (payment['status'] === 'succeeded') book(topUpOf(payment), microsOf(payment['amount_received']));
  for (const refund of refunds)
    if (refund['status'] !== 'failed')
      book(owners.get(String(refund['payment_intent'])), -microsOf(refund['amount']));
  for (const dispute of disputes)
    if (dispute['status'] !== 'won')
      book(owners.get(String(dispute['payment_intent'])), -microsOf(dispute['amount']));
  return net;
}

function topUpOf({ metadata }: CardObject): string | undefined {
  return (metadata as Record<string, string> | undefined)?.['topup_id'];
}

/** All objects of a kind at the processor. */
async function allOf(cards: CardHouse, kind: string): Promise<CardObject[]> {
  const all: CardObject[] = [];
  for (;;) {
    const last = all.at(-1);
    const after = last ? `&starting_after=${last.id}` : '';
    const { data } = await cards.ask(`${kind}?limit=${PAGE}${after}`);
    all.push(...data);
    if (data.length < PAGE) return all;
  }
}
