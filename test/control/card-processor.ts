/** The card processor of the demo, in this process: tests pay, refund and send events when they want to. */
import Stripe from 'stripe';
import { eventOf } from '../../control-plane/local/card-processor/deliveries.ts';
import { paySession } from '../../control-plane/local/card-processor/payments.ts';
import { startCardProcessor } from '../../control-plane/local/card-processor/processor.ts';
import type { CardProcessor } from '../../control-plane/local/card-processor/processor.ts';
import {
  closeDispute,
  openDispute,
  refundPayment,
} from '../../control-plane/local/card-processor/taken-back.ts';
import { now } from '../../control-plane/local/card-processor/things.ts';
import type { Thing } from '../../control-plane/local/card-processor/things.ts';

export type { Thing };

/**
 * Behaviour of the next calls: answer, fail before the work, hang up after it, or decline off-session cards.
 */
export type Mood = 'ok' | 'down' | 'lost' | 'declined' | 'authentication';

export interface FakeProcessor {
  url: string;
  key: string;
  secret: string;
  things: Map<string, Thing>;
  /** Forgets all idempotency keys, as the real processor does after a day. */
  forgetKeys(): void;
  /** Another call takes the idempotency key. */
  takeKey(idempotencyKey: string): void;
  /** The parameters of the first call under an idempotency key; empty without one. */
  parametersOf(idempotencyKey: string): Record<string, string>;
  /** Names of the calls so far, such as `POST checkout/sessions`. */
  calls: string[];
  mood: Mood;
  /** The customer pays the session; returns its payment. */
  pay(sessionId: string, options?: { currency?: string; cents?: number }): Thing;
  /** Somebody refunds at the processor's own page. */
  refund(paymentId: string, cents: number, status?: string): Thing;
  dispute(paymentId: string, cents: number, status?: string): Thing;
  /** The bank decides a dispute. */
  decide(disputeId: string, status: 'won' | 'lost'): Thing;
  /** The event of an object in its present state. */
  event(type: string, id: string): { id: string; type: string; data: { object: Thing } };
  /** Sends a signed event to the control plane. */
  send(to: string, event: object, options?: Partial<Signing>): Promise<Response>;
  close(): Promise<void>;
}

export interface Signing {
  secret: string;
  timestamp: number;
  header: string;
  body: string;
}

/** Starts the processor on a free port. It sends no event by itself. */
export async function startFakeProcessor(): Promise<FakeProcessor> {
  const [key, secret] = ['sk_test_1234567890abcdef', 'whsec_1234567890abcdef'];
  const processor = await startCardProcessor({ key, secret });
  const { books, calls, url } = processor;
  const { things } = books;
  const fake: FakeProcessor = {
    ...{ url, key, secret, things, calls },
    forgetKeys: () => processor.replays.clear(),
    takeKey: (key) =>
      void processor.replays.set(key, { input: 'another call', status: 200, body: {}, at: 0 }),
    parametersOf: (key) => {
      const body = processor.replays.get(key)?.input.split(' ')[2] ?? '';
      return Object.fromEntries(new URLSearchParams(body));
    },
    get mood() {
      return moodOf(processor);
    },
    set mood(mood) {
      processor.network = mood === 'down' || mood === 'lost' ? mood : 'ok';
      processor.offSession = mood === 'declined' || mood === 'authentication' ? mood : null;
    },
    pay: (sessionId, options) => paySession(books, get(things, sessionId), options),
    refund: (paymentId, cents, status = 'succeeded') =>
      refundPayment(books, get(things, paymentId), { cents, status }),
    dispute: (paymentId, cents, status = 'needs_response') =>
      openDispute(books, get(things, paymentId), { cents, status }),
    decide: (disputeId, status) => closeDispute(books, get(things, disputeId), status),
    event: (type, id) => eventOf(type, get(things, id)),
    send: (to, event, options = {}) => sendEvent(fake, to, { event, options }),
    close: () => processor.close(),
  };
  return fake;
}

function moodOf({ network, offSession }: CardProcessor): Mood {
  return network === 'ok' ? (offSession ?? 'ok') : network;
}

function get(things: Map<string, Thing>, id: string): Thing {
  const thing = things.get(id);
  if (!thing) throw new Error(`The processor has no ${id}.`);
  return thing;
}

function sendEvent(
  fake: FakeProcessor,
  to: string,
  { event, options }: { event: object; options: Partial<Signing> },
): Promise<Response> {
  const payload = JSON.stringify({ object: 'event', ...event });
  const { secret = fake.secret, timestamp = now() } = options;
  const header = options.header ?? Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return fetch(`${to}/webhooks/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': header },
    body: options.body ?? payload,
  });
}
