/** The networks and devices from which an account was used. Only digests of them are stored. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { query, sql } from '../database/sql.ts';
import { PLACES_PER_ACCOUNT } from '../limits.ts';
import { networkOf } from '../process/network.ts';

/** A place that was not used for this long counts as new again, in days. */
export const PLACE_KEPT_DAYS = 180;

/** Where a request comes from. */
export interface Place {
  ip: string | null;
  /** Token of the device cookie; null or absent without one. */
  device?: string | null;
}

/**
 * The device or network of the request as the account knows it, as a name for counters; null for a place that
 * is new to the account. Takes the same time for an unknown account (`userId` null).
 */
export async function knownPlace(
  em: EntityManager,
  userId: string | null,
  place: Place,
): Promise<string | null> {
  const { device, network } = digestsOf(userId ?? '', place);
  const rows = await query<{ digest: string }>(
    em,
    sql`select digest from sign_in_place where user_id = ${userId ?? ''} and digest in (${device}, ${network})
    and last_at > now() - ${PLACE_KEPT_DAYS}::integer * interval '1 day'`,
  );
  const known = new Set(rows.map(({ digest }) => digest));
  return [device, network].find((digest) => known.has(digest)) ?? null;
}

/** Records the place of a sign-in. Returns whether the account was used before, but never in this network. */
export async function recordPlace(em: EntityManager, userId: string, place: Place): Promise<boolean> {
  const { device, network } = digestsOf(userId, place);
  const known = await query<{ digest: string }>(
    em,
    sql`select digest from sign_in_place where user_id = ${userId}
    and last_at > now() - ${PLACE_KEPT_DAYS}::integer * interval '1 day'`,
  );
  const digests = [...(place.ip ? [network] : []), ...(place.device ? [device] : [])];
  for (const digest of digests)
    await query(
      em,
      sql`insert into sign_in_place (user_id, digest) values (${userId}, ${digest})
      on conflict (user_id, digest) do update set last_at = now()`,
    );
  await query(
    em,
    sql`delete from sign_in_place where user_id = ${userId} and digest in (
      select digest from sign_in_place where user_id = ${userId}
      order by last_at desc, digest offset ${PLACES_PER_ACCOUNT})`,
  );
  return Boolean(place.ip) && known.length > 0 && !known.some(({ digest }) => digest === network);
}

function digestsOf(userId: string, { ip, device }: Place): { device: string; network: string } {
  return {
    device: digestOf(`${userId} device ${device ?? ''}`),
    network: digestOf(`${userId} ${networkOf(ip)}`),
  };
}
