/**
 * The outbox of webhooks: a delivery for each endpoint that wants an event is written in the transaction of
 * the event, and sent by the worker after the commit.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { TEST_NAME, WIRE_NAMES } from './event.types.ts';
import type { WebhookEvent } from './event.types.ts';

/** Deliveries that wait for one endpoint. Later events are not stored for it: its receiver has been away. */
const PENDING_MAX = 1000;

/** Ids, names and amounts of the owner's own objects. Never a secret, never content. */
type EventData = Readonly<Record<string, string | number | boolean | null>>;

/** Writes the deliveries of an event of one user, in the caller's transaction. */
export async function recordWebhook(
  em: EntityManager,
  ownerId: string,
  event: { type: WebhookEvent; data: EventData },
): Promise<void> {
  await record(em, sql`e.owner_id = ${ownerId}`, event);
}

/** Writes the deliveries of an event of the installation to all administrators that want it. */
export async function recordOperatorWebhook(
  em: EntityManager,
  event: { type: WebhookEvent; data: EventData },
): Promise<void> {
  await record(em, sql`u.role = 'ADMIN'`, event);
}

/** Writes the delivery of a test event, and returns its id; undefined if too many wait for the endpoint. */
export async function recordTest(em: EntityManager, endpointId: string): Promise<string | undefined> {
  const id = newId('whd');
  const inserted = await insert(em, {
    endpoints: [{ id: endpointId, delivery: id }],
    type: TEST_NAME,
    data: { endpointId },
  });
  return inserted.length > 0 ? id : undefined;
}

async function record(
  em: EntityManager,
  of: Statement,
  { type, data }: { type: WebhookEvent; data: EventData },
): Promise<void> {
  if (!em.isInTransaction()) throw new Error('A webhook must be recorded in the transaction of its event.');
  const found = await query<{ id: string }>(
    em,
    sql`select e.id from webhook_endpoint e join users u on u.id = e.owner_id and u.state = 'ACTIVE'
    where ${of} and e.state = 'ENABLED' and ${type} = any(e.events)`,
  );
  if (found.length === 0) return;
  const endpoints = found.map(({ id }) => ({ id, delivery: newId('whd') }));
  await insert(em, { endpoints, type: WIRE_NAMES[type], data });
}

interface NewDeliveries {
  endpoints: readonly { id: string; delivery: string }[];
  type: string;
  data: EventData;
}

/** The body of https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md. */
function insert(em: EntityManager, { endpoints, type, data }: NewDeliveries): Promise<{ id: string }[]> {
  const payload = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
  return query<{ id: string }>(
    em,
    sql`insert into webhook_delivery (id, event_id, endpoint_id, owner_id, type, payload)
    select n.delivery, ${newId('whm')}, e.id, e.owner_id, ${type}, ${payload}
    from unnest(${endpoints.map(({ id }) => id)}::text[],
      ${endpoints.map(({ delivery }) => delivery)}::text[]) as n (endpoint, delivery)
    join webhook_endpoint e on e.id = n.endpoint
    where (select count(*) from (select from webhook_delivery d
      where d.endpoint_id = e.id and d.state = 'PENDING' limit ${PENDING_MAX}) as waiting) < ${PENDING_MAX}
    returning id`,
  );
}
