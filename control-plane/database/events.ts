/**
 * Events between all control planes, over PostgreSQL notifications: published in a transaction and delivered
 * at its commit. They carry ids only; subscribers read the rows.
 */
import { setMaxListeners } from 'node:events';
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

/**
 * Maximum bytes of the ids in one notification, whose payload must be shorter than 8,000 bytes with audience
 * and topics. https://www.postgresql.org/docs/current/sql-notify.html
 */
const MESSAGE_IDS_BYTES = 7_000;

export type Bus = ReturnType<typeof createBus>;

/**
 * Creates the event bus of this process. Subscriptions name topic and audience as `topics` and `topicId`. An
 * event without listeners costs nothing: most settled requests have none.
 */
export function createBus() {
  const eventTarget = new KnownTarget();
  // Other limits bound the subscriptions. Node.js would warn above ten listeners of one topic.
  setMaxListeners(0, eventTarget);
  const pubSub = createPubSub<Record<string, [string, Event]>>({ eventTarget });
  const publish = (topic: string, audience: string, event: Event): void => {
    if (eventTarget.isHeard(`${topic}:${audience}`)) pubSub.publish(topic, audience, event);
  };
  return { publish, subscribe: pubSub.subscribe };
}

/** Knows which types of events have listeners. */
class KnownTarget extends EventTarget {
  readonly #listeners = new Map<string, number>();

  isHeard(type: string): boolean {
    return this.#listeners.has(type);
  }

  override addEventListener(...call: Parameters<EventTarget['addEventListener']>): void {
    super.addEventListener(...call);
    const [type] = call;
    this.#listeners.set(type, (this.#listeners.get(type) ?? 0) + 1);
  }

  /** Each listener is removed at most once, and only after it was added. */
  override removeEventListener(...call: Parameters<EventTarget['removeEventListener']>): void {
    super.removeEventListener(...call);
    const [type] = call;
    const left = (this.#listeners.get(type) ?? 0) - 1;
    if (left > 0) this.#listeners.set(type, left);
    else this.#listeners.delete(type);
  }
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

/** Changed objects by topic, for one audience. */
export interface Changes {
  audience: string;
  ids: Partial<Record<Topic, readonly string[]>>;
}

/**
 * Publishes changes of several topics with one notification for each audience, or more if the ids are longer
 * than one notification. Outside a transaction, it does not wait until the disk has the (empty) transaction.
 */
export async function publishChanges(em: EntityManager, changes: readonly Changes[]): Promise<void> {
  const messages = changes.flatMap(messagesOf);
  if (messages.length === 0) return;
  const isLocal = em.isInTransaction() ? sql`true` : sql`set_config('synchronous_commit', 'off', true) <> ''`;
  await query(
    em,
    sql`select pg_notify(${CHANNEL}, message) from unnest(${messages}::text[]) as message where ${isLocal}`,
  );
}

/** The messages of one audience, each short enough for a notification. */
function messagesOf({ audience, ids }: Changes): string[] {
  const messages: string[] = [];
  let part: Partial<Record<string, string[]>> = {};
  let bytes = 0;
  const end = (): void => {
    if (bytes > 0) messages.push(JSON.stringify({ audience, ids: part }));
    part = {};
    bytes = 0;
  };
  for (const [topic, list] of Object.entries(ids)) {
    for (const id of list) {
      const more = Buffer.byteLength(JSON.stringify(id)) + 1;
      if (bytes + more > MESSAGE_IDS_BYTES) end();
      (part[topic] ??= []).push(id);
      bytes += more;
    }
  }
  end();
  return messages;
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
  const message: unknown = payload ? JSON.parse(payload) : undefined;
  if (typeof message !== 'object' || message === null || !('audience' in message)) return;
  const { audience } = message;
  if (typeof audience !== 'string') return;
  for (const { topic, id } of publishedIn(message)) bus.publish(topic, audience, { id });
}

/** The events of a message: of one object, or of several by topic. */
function publishedIn(message: object): { topic: string; id: string }[] {
  if ('topic' in message && 'id' in message)
    return typeof message.topic === 'string' && typeof message.id === 'string'
      ? [{ topic: message.topic, id: message.id }]
      : [];
  if (!('ids' in message) || typeof message.ids !== 'object' || message.ids === null) return [];
  return Object.entries(message.ids).flatMap(([topic, ids]: [string, unknown]) =>
    Array.isArray(ids) ? ids.flatMap((id: unknown) => (typeof id === 'string' ? [{ topic, id }] : [])) : [],
  );
}
