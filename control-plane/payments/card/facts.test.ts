/** Tests of what is read from the processor's events and objects. */
import { describe, expect, it } from 'vitest';
import {
  disputeStatusOf,
  eventOf,
  factsOfBalance,
  factsOfDispute,
  factsOfEvent,
  factsOfPayment,
  factsOfRefund,
  factsOfSession,
  refundStatusOf,
} from './facts.ts';

const ID = 'top_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const REFUND = 'rfn_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const metadata = { topup_id: ID };
const session = {
  ...{ id: 'cs_1', metadata, client_reference_id: ID, payment_intent: 'pi_1', status: 'complete' },
  ...{ payment_status: 'paid', amount_total: 2500, currency: 'usd' },
};
const named = { topUpId: ID, paymentId: 'pi_1', ask: false };
const paid = { type: 'PAID', amount: 25_000_000n };

describe('eventOf', () => {
  it('returns id, type and object', () => {
    const body = { id: 'evt_1', type: 'x', data: { object: { a: 1 } }, more: true };
    expect(eventOf(body)).toEqual({ id: 'evt_1', type: 'x', object: { a: 1 } });
  });

  it.each([
    [null],
    ['x'],
    [[]],
    [{}],
    [{ id: 1, type: 'x', data: { object: {} } }],
    [{ id: '', type: 'x', data: { object: {} } }],
    [{ id: 'x'.repeat(256), type: 'x', data: { object: {} } }],
    [{ id: 'e', type: null, data: { object: {} } }],
    [{ id: 'e', type: 'x', data: null }],
    [{ id: 'e', type: 'x', data: { object: [] } }],
    [{ id: 'e', type: 'x' }],
  ])('returns null for row %#', (body) => {
    expect(eventOf(body)).toBeNull();
  });

  it('takes an id of 255 characters', () => {
    expect(eventOf({ id: 'x'.repeat(255), type: 'x', data: { object: {} } })).not.toBeNull();
  });
});

describe('factsOfEvent', () => {
  const of = (type: string, object: object) => factsOfEvent({ id: 'evt_1', type, object: { ...object } });

  it.each([
    'invoice.paid',
    'checkout.session.created',
    'payment_intent.payment_failed',
    'charge.failed',
    'xrefund.created',
    'refund.createdx',
    'checkout.sessionx',
  ])('is null for %s', (type) => {
    expect(of(type, session)).toBeNull();
  });

  it.each(['completed', 'async_payment_succeeded', 'async_payment_failed', 'expired'])(
    'reads the payment of checkout.session.%s',
    (kind) => {
      expect(of(`checkout.session.${kind}`, session)).toEqual({
        ...named,
        events: [paid],
        details: { sessionId: 'cs_1', paymentId: 'pi_1' },
      });
    },
  );

  it('is a failure with words for the owner if an asynchronous payment failed', () => {
    const facts = of('checkout.session.async_payment_failed', { ...session, payment_status: 'unpaid' });
    expect(facts?.events).toEqual([{ type: 'PROGRESS', stage: 'FAILED' }]);
    expect(facts?.details.failureMessage).toBe(
      'The payment failed at the bank. Nothing was charged; try another method.',
    );
  });

  it('reads a payment that succeeded', () => {
    const payment = { id: 'pi_1', metadata, status: 'succeeded', amount_received: 2500, currency: 'usd' };
    expect(of('payment_intent.succeeded', payment)).toEqual({
      ...named,
      events: [paid],
      details: { paymentId: 'pi_1' },
    });
  });

  const charge = { payment_intent: { id: 'pi_1' }, metadata, receipt_url: 'https://r.example/1' };
  it.each([
    ['charge.succeeded', false],
    ['charge.updated', false],
    ['charge.refunded', true],
  ])('reads only the receipt of %s; whether the processor must be asked: %s', (type, ask) => {
    const details = { paymentId: 'pi_1', receiptUrl: 'https://r.example/1' };
    expect(of(type, charge)).toEqual({ ...named, ask, events: [], details });
  });

  it.each(['javascript:alert(1)', 'xhttps://r.example', null, 7])(
    'reads no receipt from %s',
    (receipt_url) => {
      expect(of('charge.succeeded', { ...charge, receipt_url })?.details).toEqual({ paymentId: 'pi_1' });
    },
  );

  const refund = { id: 're_1', payment_intent: 'pi_1', amount: 500, currency: 'usd', status: 'pending' };
  it.each(['refund.created', 'refund.updated', 'refund.failed', 'charge.refund.updated'])(
    'reads %s',
    (type) => {
      expect(of(type, refund)?.events).toEqual([
        { type: 'REFUND', id: 're_1', amount: 5_000_000n, status: 'PENDING' },
      ]);
    },
  );

  it('reads a dispute with the type of its event', () => {
    const dispute = { id: 'dp_1', payment_intent: 'pi_1', amount: 500, currency: 'usd', status: 'lost' };
    const event = { type: 'DISPUTE', id: 'dp_1', amount: 5_000_000n };
    expect(of('charge.dispute.closed', dispute)?.events).toEqual([{ ...event, status: 'LOST' }]);
    expect(of('charge.dispute.funds_reinstated', dispute)?.events).toEqual([{ ...event, status: 'WON' }]);
  });
});

describe('factsOfSession', () => {
  it.each([
    [{ payment_status: 'unpaid', status: 'expired' }, 'EXPIRED'],
    [{ payment_status: 'unpaid', status: 'open' }, 'AWAITING_PAYMENT'],
    [{ payment_status: 'unpaid', status: 'complete' }, 'AWAITING_PAYMENT'],
    [{ payment_status: 'no_payment_required', status: 'complete' }, 'AWAITING_PAYMENT'],
  ])('is progress for row %#', (change, stage) => {
    expect(factsOfSession({ ...session, ...change }).events).toEqual([{ type: 'PROGRESS', stage }]);
  });

  it('finds the top-up by its reference without metadata, and only in the form of our ids', () => {
    const of = (client_reference_id: unknown, more: object = {}) =>
      factsOfSession({ ...session, metadata: {}, client_reference_id, ...more }).topUpId;
    expect(of(ID)).toBe(ID);
    for (const other of [`x${ID}`, `${ID}x`, 'order', 7, null]) expect(of(other)).toBeNull();
    expect(of('top_01ARZ3NDEKTSV4RRFFQ69G5FAW', { metadata })).toBe(ID);
    for (const topup_id of [`x${ID}`, `${ID}x`, 7]) expect(of(null, { metadata: { topup_id } })).toBeNull();
    expect(of(null, { metadata: null })).toBeNull();
  });

  it('names no payment and no session without their ids', () => {
    const facts = factsOfSession({ ...session, id: 7, payment_intent: null });
    expect(facts).toEqual({ topUpId: ID, paymentId: null, ask: false, events: [paid], details: {} });
  });

  it.each([
    [{ currency: 'eur' }, 'CURRENCY_UNSUPPORTED'],
    [{ currency: undefined }, 'CURRENCY_UNSUPPORTED'],
    [{ amount_total: 0 }, 'AMOUNT_DIFFERS'],
    [{ amount_total: '2500' }, 'AMOUNT_DIFFERS'],
  ])('credits nothing and raises an issue for row %#', (change, issue) => {
    const facts = factsOfSession({ ...session, ...change });
    expect({ events: facts.events, issue: facts.details.issue }).toEqual({ events: [], issue });
  });
});

describe('factsOfPayment', () => {
  it('is null unless the payment succeeded, and has the receipt of its charge', () => {
    const payment = { id: 'pi_1', metadata, status: 'processing', amount_received: 2500, currency: 'usd' };
    expect(factsOfPayment({ ...payment, latest_charge: 'ch_1' })).toEqual({
      ...named,
      events: [],
      details: { paymentId: 'pi_1' },
    });
    const receipt = factsOfPayment({ ...payment, latest_charge: { receipt_url: 'http://r.example/1' } });
    expect(receipt.details.receiptUrl).toBe('http://r.example/1');
  });
});

describe('factsOfRefund', () => {
  const refund = { id: 're_1', payment_intent: 'pi_1', amount: 500, currency: 'usd', status: 'succeeded' };

  it('has the id of the refund that the gateway requested, or else the id of the processor', () => {
    const idOf = (refund_id: unknown): unknown =>
      (factsOfRefund({ ...refund, metadata: { refund_id } }).events[0] as { id: string }).id;
    expect(idOf(REFUND)).toBe(REFUND);
    for (const other of [`x${REFUND}`, `${REFUND}x`, 7, undefined]) expect(idOf(other)).toBe('re_1');
    expect(factsOfRefund({ ...refund, metadata: null }).events).toHaveLength(1);
  });

  it.each([{ id: null }, { amount: 0 }, { currency: 'eur' }])('is null for row %#', (change) => {
    expect(factsOfRefund({ ...refund, ...change }).events).toEqual([]);
  });

  it.each([
    ['succeeded', 'SUCCEEDED'],
    ['failed', 'FAILED'],
    ['canceled', 'FAILED'],
    ['pending', 'PENDING'],
    ['requires_action', 'PENDING'],
    [null, 'PENDING'],
  ])('has for the status %s: %s', (status, wanted) => {
    expect(refundStatusOf(status)).toBe(wanted);
    expect(factsOfRefund({ ...refund, status }).events).toMatchObject([{ status: wanted }]);
  });
});

describe('factsOfDispute', () => {
  const dispute = {
    id: 'dp_1',
    payment_intent: 'pi_1',
    amount: 500,
    currency: 'usd',
    status: 'needs_response',
  };

  it.each([{ id: null }, { amount: -1 }, { currency: null }])('is null for row %#', (change) => {
    expect(factsOfDispute({ ...dispute, ...change }).events).toEqual([]);
  });

  it.each([
    ['needs_response', '', 'OPEN'],
    ['under_review', '', 'OPEN'],
    [undefined, '', 'OPEN'],
    ['lost', '', 'LOST'],
    ['won', '', 'WON'],
    ['prevented', '', 'WON'],
    ['warning_needs_response', '', 'NOTICE'],
    ['warning_closed', 'charge.dispute.closed', 'NOTICE'],
    ['warning_needs_response', 'charge.dispute.funds_withdrawn', 'OPEN'],
    ['a_warning_', '', 'OPEN'],
    ['lost', 'charge.dispute.funds_reinstated', 'WON'],
  ])('has for the status %s of the event "%s": %s', (status, type, wanted) => {
    expect(disputeStatusOf(status, type)).toBe(wanted);
  });

  it('has the status of the object if it was fetched and not reported', () => {
    expect(factsOfDispute(dispute).events).toEqual([
      { type: 'DISPUTE', id: 'dp_1', amount: 5_000_000n, status: 'OPEN' },
    ]);
  });
});

describe('factsOfBalance', () => {
  const charge = { object: 'charge', payment_intent: 'pi_1', metadata, amount: 2500, currency: 'usd' };

  it('reads the payment of a charge: its captured amount', () => {
    expect(factsOfBalance(charge)).toEqual({ ...named, events: [paid], details: { paymentId: 'pi_1' } });
    expect(factsOfBalance({ ...charge, amount_captured: 2000 })?.events).toEqual([
      { ...paid, amount: 20_000_000n },
    ]);
    expect(factsOfBalance({ ...charge, paid: true })?.events).toEqual([paid]);
    expect(factsOfBalance({ ...charge, paid: false })?.events).toEqual([]);
  });

  it('reads refunds and disputes, and nothing else', () => {
    const back = { payment_intent: 'pi_1', amount: 500, currency: 'usd', status: 'lost' };
    expect(factsOfBalance({ ...back, object: 'refund', id: 're_1' })?.events).toMatchObject([
      { type: 'REFUND' },
    ]);
    expect(factsOfBalance({ ...back, object: 'dispute', id: 'dp_1' })?.events).toMatchObject([
      { type: 'DISPUTE' },
    ]);
    for (const other of [{ ...charge, object: 'payout' }, 'ch_1', null, undefined, []])
      expect(factsOfBalance(other)).toBeNull();
  });
});
