/**
 * Signed events for the webhook: each is repeated until it is accepted. On request events are duplicated,
 * delayed, reordered or dropped, as a network does.
 */
import Stripe from 'stripe';
import { isThing, newId, now, viewOf } from './things.ts';
import type { Thing } from './things.ts';

/** Faults of the next deliveries. */
export interface Faults {
  /** Number of the next events that are never sent. */
  drop: number;
  /** Further copies of each event. */
  duplicates: number;
  /** Time before an event is sent, in ms. */
  delayMs: number;
  /** Number of the next events that are kept back, and then sent in the reverse order; 0 for none. */
  reorder: number;
}

/** An event that is being delivered. */
export interface Pending {
  eventId: string;
  /** Number of failed attempts. */
  attempts: number;
}

interface DeliveryParts {
  /** Address of the webhook; undefined: events are only stored. */
  url: string | undefined;
  secret: string;
  things: Map<string, Thing>;
  /** Called after an event was accepted or given up. */
  onChange: () => void;
}

/** Delays before further attempts, in ms. After the last one the event is given up. */
const RETRIES_MS = [500, 1_000, 3_000, 10_000, 60_000, 600_000, 3_600_000];
const ATTEMPT_MS = 10_000;

/** The events of one processor. */
export class Deliveries {
  readonly faults: Faults = { drop: 0, duplicates: 0, delayMs: 0, reorder: 0 };
  readonly pending: Pending[] = [];
  /** Status of each attempt by event, oldest first; 0 if there was no answer, -1 if it was dropped. */
  readonly log: { id: string; type: string; status: number }[] = [];
  private readonly parts: DeliveryParts;
  private readonly running = new Set<Promise<void>>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly ended = new AbortController();
  private kept: Pending[] = [];

  constructor(parts: DeliveryParts) {
    this.parts = parts;
  }

  /** Stores the event of an object in its present state, and sends it. */
  emit(type: string, thing: Thing): void {
    const { url, things } = this.parts;
    const event = eventOf(type, thing);
    things.set(event.id, event);
    if (url === undefined) return;
    if (this.faults.drop > 0) {
      this.faults.drop -= 1;
      this.log.push({ id: event.id, type, status: -1 });
      return;
    }
    const copies = Array.from({ length: 1 + this.faults.duplicates }, () => ({
      eventId: event.id,
      attempts: 0,
    }));
    this.pending.push(...copies);
    if (this.faults.reorder > 0) this.keepBack(copies);
    else for (const copy of copies) this.schedule(copy, this.faults.delayMs);
  }

  /** Sends events again that an earlier process had not delivered. */
  resume(pending: readonly Pending[]): void {
    this.pending.push(...pending);
    for (const one of pending) this.schedule(one, 0);
  }

  /** Resolves when all running attempts have ended, or after `limitMs`. */
  async settled(limitMs: number): Promise<void> {
    const limit = new Promise<void>((resolve) => setTimeout(resolve, limitMs).unref());
    await Promise.race([Promise.all(this.running), limit]);
  }

  /** Stops sending, and resolves when no attempt runs. Undelivered events stay in `pending`. */
  async stop(): Promise<void> {
    this.ended.abort();
    for (const timer of this.timers) clearTimeout(timer);
    await Promise.all(this.running);
  }

  private keepBack(copies: readonly Pending[]): void {
    this.kept.push(...copies);
    this.faults.reorder -= 1;
    if (this.faults.reorder > 0) return;
    const reversed = this.kept.toReversed();
    this.kept = [];
    this.track(this.sendInOrder(reversed));
  }

  private async sendInOrder(all: readonly Pending[]): Promise<void> {
    for (const one of all) await this.attempt(one);
  }

  private schedule(one: Pending, delayMs: number): void {
    if (delayMs === 0) return this.track(this.attempt(one));
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.track(this.attempt(one));
    }, delayMs);
    this.timers.add(timer);
  }

  private track(work: Promise<void>): void {
    const tracked = work.finally(() => this.running.delete(tracked));
    this.running.add(tracked);
  }

  private async attempt(one: Pending): Promise<void> {
    const event = this.parts.things.get(one.eventId);
    const status = event ? await this.post(event) : 0;
    if (this.ended.signal.aborted) return;
    this.log.push({ id: one.eventId, type: String(event?.['type']), status });
    one.attempts += 1;
    const retryMs = RETRIES_MS[one.attempts - 1];
    const isOver = (status >= 200 && status < 300) || !event || retryMs === undefined;
    if (isOver) this.pending.splice(this.pending.indexOf(one), 1);
    else this.schedule(one, retryMs);
    this.parts.onChange();
  }

  private async post(event: Thing): Promise<number> {
    const { url = '', secret } = this.parts;
    const payload = JSON.stringify(event);
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: now() });
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
        body: payload,
        redirect: 'manual',
        signal: AbortSignal.any([this.ended.signal, AbortSignal.timeout(ATTEMPT_MS)]),
      });
      await answer.body?.cancel();
      return answer.status;
    } catch {
      return 0;
    }
  }
}

/** The event of an object in its present state. */
export function eventOf(type: string, thing: Thing): Thing & { type: string; data: { object: Thing } } {
  return {
    ...{ id: newId('evt'), object: 'event', type, created: now(), livemode: false },
    data: { object: isThing(thing) ? viewOf(thing) : thing },
  };
}
