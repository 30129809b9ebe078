/** Creates, changes and deletes webhook endpoints, and repeats their deliveries. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import type { Viewer } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { Settings } from '../process/settings.ts';
import { decryptSecret, encryptSecret } from '../upstreams/stored-secrets.ts';
import { deliveryOf } from './delivery.rows.ts';
import type { DeliveryRow } from './delivery.rows.ts';
import { checkDescription, checkEndpointAddress, checkEvents } from './endpoint.rules.ts';
import { secretLocation } from './endpoint.secrets.ts';
import type { WebhookEvent } from './event.types.ts';
import { endWaiting } from './failing.ts';
import { recordTest } from './outbox.ts';
import { newWebhookSecret } from './signature.ts';

/** Maximum number of endpoints of one user. */
const ENDPOINTS_MAX = 10;
/** How long deliveries are also signed with the secret that a rotation replaced, in hours. */
export const ROTATION_HOURS = 24;

/** An endpoint in the API, without its secret. */
export interface EndpointRow {
  id: string;
  url: string;
  description: string;
  events: WebhookEvent[];
  state: 'ENABLED' | 'DISABLED' | 'FAILED';
  version: number;
  createdAt: Date;
  failingSince: Date | null;
  previousSecretUntil: Date | null;
}

type WebhookSettings = Pick<Settings, 'secretKey' | 'allowPrivateUpstreams'>;

/** An endpoint to create. */
interface EndpointDraft {
  url: string;
  description?: string | null;
  events: readonly WebhookEvent[];
}

/**
 * Creates an endpoint, and returns its secret, which is stored encrypted and never returned again. Throws
 * INVALID, REQUIRED, LIMIT_REACHED.
 */
export async function createEndpoint(
  em: EntityManager,
  owner: Viewer,
  { draft, settings }: { draft: EndpointDraft; settings: WebhookSettings },
): Promise<{ endpoint: EndpointRow; secret: string }> {
  const url = await checkEndpointAddress(draft.url, mayBePrivate(owner, settings));
  const description = checkDescription(draft.description ?? '');
  const events = checkEvents(draft.events, owner);
  const id = newId('whe');
  const secret = newWebhookSecret();
  const sealed = encryptSecret(settings.secretKey, secret, secretLocation(id, 'sealed_secret'));
  return inTransaction(em, async (inner) => {
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${owner.id}`}, 0))`);
    if ((await endpointsOf(inner, owner.id)).length >= ENDPOINTS_MAX)
      throw new UserFailure('LIMIT_REACHED', `You have ${ENDPOINTS_MAX} webhooks. Delete one first.`);
    await query(
      inner,
      sql`insert into webhook_endpoint (id, owner_id, url, description, events, state, sealed_secret)
      values (${id}, ${owner.id}, ${url}, ${description}, ${events}::text[], 'ENABLED', ${sealed})`,
    );
    return { endpoint: await endpointOf(inner, owner.id, id), secret };
  });
}

/** Changes of an endpoint. Members that are undefined or null stay unchanged. */
interface EndpointChange {
  id: string;
  version: number;
  url?: string | null;
  description?: string | null;
  events?: readonly WebhookEvent[] | null;
  enabled?: boolean | null;
}

/**
 * Applies the changes. Disabling ends the waiting deliveries; enabling starts the count of failures anew.
 * Throws NOT_FOUND, STALE_VERSION, INVALID, REQUIRED.
 */
export async function updateEndpoint(
  em: EntityManager,
  owner: Viewer,
  { change, settings }: { change: EndpointChange; settings: WebhookSettings },
): Promise<EndpointRow> {
  const { id, version, enabled = null } = change;
  const url = change.url ? await checkEndpointAddress(change.url, mayBePrivate(owner, settings)) : null;
  const description = change.description ? checkDescription(change.description) : change.description;
  const events = change.events ? checkEvents(change.events, owner) : null;
  const state = enabled === null ? null : enabled ? 'ENABLED' : 'DISABLED';
  return inTransaction(em, async (inner) => {
    const before = await lockEndpoint(inner, owner.id, id);
    if (before.version !== version) {
      const message = 'The webhook was changed meanwhile. Reload it, then repeat your change.';
      throw new UserFailure('STALE_VERSION', message, 'version');
    }
    await query(
      inner,
      sql`update webhook_endpoint set version = version + 1, url = coalesce(${url}, url),
        description = coalesce(${description ?? null}, description),
        events = coalesce(${events}::text[], events), state = coalesce(${state}, state),
        failing_since = case when ${state}::text = 'ENABLED' then null else failing_since end
      where id = ${id}`,
    );
    if (state === 'DISABLED') await endWaiting(inner, id);
    return endpointOf(inner, owner.id, id);
  });
}

/** Deletes an endpoint with its deliveries. Throws NOT_FOUND. */
export async function deleteEndpoint(em: EntityManager, ownerId: string, id: string): Promise<void> {
  const where = sql`id = ${id} and owner_id = ${ownerId}`;
  const deleted = await queryOne(em, sql`delete from webhook_endpoint where ${where} returning id`);
  if (!deleted) throw unknownEndpoint();
}

/**
 * Creates a new secret and returns it. Deliveries are signed with both secrets for ROTATION_HOURS. A second
 * rotation in that time ends the oldest secret. Throws NOT_FOUND.
 */
export async function rotateSecret(
  em: EntityManager,
  { ownerId, id, secretKey }: { ownerId: string; id: string; secretKey: string },
): Promise<{ endpoint: EndpointRow; secret: string }> {
  const secret = newWebhookSecret();
  return inTransaction(em, async (inner) => {
    await lockEndpoint(inner, ownerId, id);
    const row = await queryOne<{ sealed: string }>(
      inner,
      sql`select sealed_secret as sealed from webhook_endpoint where id = ${id}`,
    );
    const [current, previous] = [secretLocation(id, 'sealed_secret'), secretLocation(id, 'previous_sealed')];
    const before = decryptSecret(secretKey, row?.sealed ?? '', current);
    await query(
      inner,
      sql`update webhook_endpoint set sealed_secret = ${encryptSecret(secretKey, secret, current)},
        previous_sealed = ${encryptSecret(secretKey, before, previous)},
        previous_until = now() + make_interval(hours => ${ROTATION_HOURS}), version = version + 1
      where id = ${id}`,
    );
    return { endpoint: await endpointOf(inner, ownerId, id), secret };
  });
}

/** Sends a test event to an endpoint. Throws NOT_FOUND, CONFLICT if it is disabled, LIMIT_REACHED. */
export async function testEndpoint(em: EntityManager, ownerId: string, id: string): Promise<DeliveryRow> {
  return inTransaction(em, async (inner) => {
    const endpoint = await endpointOf(inner, ownerId, id);
    if (endpoint.state !== 'ENABLED') throw disabledEndpoint();
    const delivery = await recordTest(inner, id);
    const row = delivery && (await deliveryOf(inner, ownerId, delivery));
    if (!row) throw new UserFailure('LIMIT_REACHED', 'Too many deliveries are waiting. Try again later.');
    return row;
  });
}

/**
 * Sends a finished delivery again, with the same event id and content. Throws NOT_FOUND, CONFLICT if it is
 * still waiting or its endpoint is disabled.
 */
export async function replayDelivery(em: EntityManager, ownerId: string, id: string): Promise<DeliveryRow> {
  return inTransaction(em, async (inner) => {
    const found = await queryOne<{ state: string; endpoint: string }>(
      inner,
      sql`select d.state, e.state as endpoint from webhook_delivery d
      join webhook_endpoint e on e.id = d.endpoint_id
      where d.id = ${id} and d.owner_id = ${ownerId} for update of d`,
    );
    if (!found) {
      const message = 'Unknown delivery. Deliveries are deleted after 30 days; reload the list.';
      throw new UserFailure('NOT_FOUND', message, 'id');
    }
    if (found.endpoint !== 'ENABLED') throw disabledEndpoint();
    if (found.state === 'PENDING')
      throw new UserFailure('CONFLICT', 'This delivery is still being sent. Wait for its end.', 'id');
    await query(
      inner,
      sql`update webhook_delivery set state = 'PENDING', attempts = 0, next_at = now() where id = ${id}`,
    );
    const row = await deliveryOf(inner, ownerId, id);
    if (!row) throw new Error(`The delivery ${id} is missing.`);
    return row;
  });
}

/** The endpoints of a user, oldest first. */
export function endpointsOf(em: EntityManager, ownerId: string): Promise<EndpointRow[]> {
  return endpoints(em, sql`owner_id = ${ownerId} order by id`);
}

/** One endpoint of this owner. Throws NOT_FOUND. */
async function endpointOf(em: EntityManager, ownerId: string, id: string): Promise<EndpointRow> {
  const [row] = await endpoints(em, sql`id = ${id} and owner_id = ${ownerId}`);
  if (!row) throw unknownEndpoint();
  return row;
}

/** One endpoint of this owner, locked until the transaction ends. Throws NOT_FOUND. */
async function lockEndpoint(em: EntityManager, ownerId: string, id: string): Promise<EndpointRow> {
  await query(em, sql`select 1 from webhook_endpoint where id = ${id} for update`);
  return endpointOf(em, ownerId, id);
}

async function endpoints(em: EntityManager, where: Statement): Promise<EndpointRow[]> {
  type Times = 'createdAt' | 'failingSince' | 'previousSecretUntil';
  type Found = Omit<EndpointRow, Times> & Record<Exclude<Times, 'createdAt'>, string | null>;
  const rows = await query<Found & { createdAt: string }>(
    em,
    sql`select id, url, description, events, state, version, created_at as "createdAt",
      failing_since as "failingSince", case when previous_until > now() then previous_until end
        as "previousSecretUntil"
    from webhook_endpoint where ${where}`,
  );
  return rows.map((row) => ({
    ...row,
    createdAt: toDate(row.createdAt),
    failingSince: row.failingSince === null ? null : toDate(row.failingSince),
    previousSecretUntil: row.previousSecretUntil === null ? null : toDate(row.previousSecretUntil),
  }));
}

/** Operators that allow private upstreams may also have receivers there; customers never. */
function mayBePrivate(owner: Viewer, { allowPrivateUpstreams }: WebhookSettings): boolean {
  return allowPrivateUpstreams && owner.role === 'ADMIN';
}

function unknownEndpoint(): UserFailure {
  return new UserFailure('NOT_FOUND', 'Unknown webhook. Reload your webhooks.', 'id');
}

function disabledEndpoint(): UserFailure {
  return new UserFailure('CONFLICT', 'This webhook is disabled. Enable it first.', 'id');
}
