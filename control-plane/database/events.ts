/**
 * Events between all control planes, over PostgreSQL notifications: published in a transaction and delivered
 * at its commit. They carry ids only; subscribers read the rows.
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

/** The payload that a subscription's resolver receives. */
export interface Event {
  /** Id of the changed object. */
  id: string;
}

/** The audience of events for every subscriber. */
export const EVERYBODY = 'everybody';

const CHANNEL = 'gateway_events';

export type Bus = ReturnType<typeof createBus>;

/** Creates the event bus of this process. Subscriptions name topic and audience as `topics` and `topicId`. */
export function createBus() {
  return createPubSub<Record<string, [string, Event]>>();
}

/** Publishes at the commit that the object changed. `audience` is the id of a user, or EVERYBODY. */
export async function publish(
  em: EntityManager,
  topic: Topic,
  event: { audience: string; id: string },
): Promise<void> {
  await query(em, sql`select pg_notify(${CHANNEL}, ${JSON.stringify({ topic, ...event })})`);
}

/** Publishes changes of several objects of one topic with one statement. */
export async function publishMany(
  em: EntityManager,
  topic: Topic,
  events: readonly { audience: string; id: string }[],
): Promise<void> {
  if (events.length === 0) return;
  const messages = events.map((event) => JSON.stringify({ topic, ...event }));
  await query(em, sql`select pg_notify(${CHANNEL}, message) from unnest(${messages}::text[]) as message`);
}

/** Delivers events to the bus until `close`. Reconnects after a loss; events of that time are lost. */
export async function listenForEvents(databaseUrl: string, bus: Bus): Promise<{ close(): Promise<void> }> {
  const listener = await Listener.start({
    databaseUrl,
    channels: [CHANNEL],
    onNotification: (_, payload) => deliver(bus, payload),
  });
  return { close: () => listener.stop() };
}

function deliver(bus: Bus, payload: string): void {
  const event: unknown = payload ? JSON.parse(payload) : undefined;
  if (!isPublished(event)) return;
  bus.publish(event.topic, event.audience, { id: event.id });
}

function isPublished(value: unknown): value is { topic: string; audience: string; id: string } {
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
