/**
 * Events between all control-plane processes: published in a transaction, delivered at its commit, never on
 * rollback.
 * They carry ids only; whoever listens reads the row itself.
 */
import { createPubSub } from '@graphql-yoga/subscription';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Listener } from './listener.ts';
import { query, sql } from './sql.ts';

export type Topic =
  | 'apiKeyUpdated'
  | 'catalogUpdated'
  | 'walletUpdated'
  | 'usageAdded'
  | 'adminNodeUpdated'
  | 'adminAuditAdded'
  | 'poolUpdated'
  | 'storefrontUpdated'
  | 'topUpUpdated'
  | 'personalIntelligenceUpdated'
  | 'messageStream';

/** What a subscription's resolver receives as its payload. */
export interface Event {
  id: string;
}

/** The audience of what concerns everybody who may subscribe. */
export const EVERYBODY = 'everybody';

const CHANNEL = 'gateway_events';

export type Bus = ReturnType<typeof createBus>;

/** The in-process end of the events; subscriptions take `topics` and the audience as `topicId`. */
export function createBus() {
  return createPubSub<Record<string, [string, Event]>>();
}

/**
 * Announces that the object changed, to the user named by `audience` or to EVERYBODY, when the transaction
 * commits.
 */
export async function publish(
  em: EntityManager,
  topic: Topic,
  event: { audience: string; id: string },
): Promise<void> {
  await query(em, sql`select pg_notify(${CHANNEL}, ${JSON.stringify({ topic, ...event })})`);
}

/** Announces several objects of one topic in one statement. */
export async function publishMany(
  em: EntityManager,
  topic: Topic,
  events: readonly { audience: string; id: string }[],
): Promise<void> {
  if (events.length === 0) return;
  const messages = events.map((event) => JSON.stringify({ topic, ...event }));
  await query(em, sql`select pg_notify(${CHANNEL}, message) from unnest(${messages}::text[]) as message`);
}

/**
 * Listens until `close`; reconnects by itself. What was published meanwhile is lost: clients read again on
 * reconnect.
 */
export async function listenForEvents(databaseUrl: string, bus: Bus): Promise<{ close(): Promise<void> }> {
  const listener = await Listener.start({
    databaseUrl,
    channels: [CHANNEL],
    onNotice: (_, payload) => deliver(bus, payload),
  });
  return { close: () => listener.stop() };
}

function deliver(bus: Bus, payload: string): void {
  const event: unknown = payload ? JSON.parse(payload) : undefined;
  if (!isNotice(event)) return;
  bus.publish(event.topic, event.audience, { id: event.id });
}

function isNotice(value: unknown): value is { topic: string; audience: string; id: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'topic' in value &&
    'audience' in value &&
    'id' in value &&
    typeof value.topic === 'string' &&
    typeof value.audience === 'string' &&
    typeof value.id === 'string'
  );
}
