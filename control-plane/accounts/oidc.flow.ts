/**
 * The way to the identity provider and back. It begins and ends in one browser, which is known by a cookie of
 * its own, so that nobody can be signed in to somebody else's account by a link.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { query, queryOne, sql } from '../sql.ts';
import { lock, unlock } from '../upstreams/vault.ts';
import type { OidcClient, OidcIdentity, OidcSecrets } from './oidc.client.ts';

/** How long somebody may take at the provider, and then for the policy, in ms. */
export const FLOW_MS = 15 * 60_000;
const NEXT_LENGTH_MAX = 500;

/** Where the provider sends browsers back to. */
export const CALLBACK_PATH = '/oidc/callback';

/** One way to the provider. */
export interface FlowParts {
  client: OidcClient;
  settings: Pick<Settings, 'consoleUrl' | 'secretKey'>;
  browserToken: string;
  /** Who links the identity; null to sign in. */
  userId: string | null;
  /** Page of the console to go on to. */
  next: string | null;
}

/** Remembers the way and says where to send the browser. */
export async function beginFlow(em: EntityManager, parts: FlowParts): Promise<string> {
  const { url, secrets } = await parts.client.begin(parts.settings.consoleUrl + CALLBACK_PATH);
  const digest = digestOf(secrets.state);
  const sealed = lock(parts.settings.secretKey, JSON.stringify(secrets), placeOf(digest));
  await query(
    em,
    sql`insert into oidc_flow (state_digest, browser_digest, sealed, user_id, next, expires_at)
    values (${digest}, ${digestOf(parts.browserToken)}, ${sealed}, ${parts.userId},
      ${ownPath(parts.next)}, ${new Date(Date.now() + FLOW_MS)})`,
  );
  return url;
}

/** Who came back, and to what end. */
export interface Arrival {
  identity: OidcIdentity;
  userId: string | null;
  next: string | null;
}

/** The browser that came back. */
export interface Return {
  client: OidcClient;
  settings: Pick<Settings, 'consoleUrl' | 'secretKey'>;
  browserToken: string | null;
  /** The query string of the callback, with its question mark. */
  search: string;
}

/** Ends the way: it can be ended once, by the browser that began it. Rejects where anything does not fit. */
export async function endFlow(em: EntityManager, back: Return): Promise<Arrival> {
  const callback = new URL(`${back.settings.consoleUrl}${CALLBACK_PATH}${back.search}`);
  const digest = digestOf(callback.searchParams.get('state') ?? '');
  const row = await queryOne<{ sealed: string; user_id: string | null; next: string | null }>(
    em,
    sql`delete from oidc_flow where state_digest = ${digest} and expires_at > now()
    and browser_digest = ${digestOf(back.browserToken ?? '')} returning sealed, user_id, next`,
  );
  if (!row) throw new Error('This way to the provider is unknown, was ended or began in another browser.');
  const secrets = JSON.parse(unlock(back.settings.secretKey, row.sealed, placeOf(digest))) as OidcSecrets;
  return { identity: await back.client.finish(callback, secrets), userId: row.user_id, next: row.next };
}

/** Lets the browser that came back sign in as this identity once. The token exists in this result alone. */
export async function issueTicket(
  em: EntityManager,
  { issuer, subject, email, displayName }: OidcIdentity,
  browserToken: string,
): Promise<string> {
  const ticket = issueSecret('gwo');
  await query(
    em,
    sql`insert into oidc_ticket (digest, browser_digest, issuer, subject, email, display_name, expires_at)
    values (${digestOf(ticket)}, ${digestOf(browserToken)}, ${issuer}, ${subject}, ${email}, ${displayName},
      ${new Date(Date.now() + FLOW_MS)})`,
  );
  return ticket;
}

interface TicketRow {
  issuer: string;
  subject: string;
  email: string | null;
  display_name: string | null;
}

/** Who the ticket is for; it stays good. Throws CREDENTIALS_INVALID. */
export async function readTicket(
  em: EntityManager,
  ticket: string,
  browserToken: string | null,
): Promise<OidcIdentity> {
  const row = await queryOne<TicketRow>(
    em,
    sql`select issuer, subject, email, display_name from oidc_ticket
    where digest = ${digestOf(ticket)} and expires_at > now()
    and browser_digest = ${digestOf(browserToken ?? '')}`,
  );
  return identityIn(row);
}

/**
 * Who the ticket is for, and takes it out of use with the transaction: it stays good where that is rolled
 * back, because the policy was missing. Throws CREDENTIALS_INVALID.
 */
export async function useTicket(
  em: EntityManager,
  ticket: string,
  browserToken: string | null,
): Promise<OidcIdentity> {
  const row = await queryOne<TicketRow>(
    em,
    sql`delete from oidc_ticket where digest = ${digestOf(ticket)} and expires_at > now()
    and browser_digest = ${digestOf(browserToken ?? '')} returning issuer, subject, email, display_name`,
  );
  return identityIn(row);
}

function identityIn(row: TicketRow | undefined): OidcIdentity {
  if (!row) throw new UserFailure('CREDENTIALS_INVALID', 'Sign in at your provider again.', 'ticket');
  return { issuer: row.issuer, subject: row.subject, email: row.email, displayName: row.display_name };
}

/** A path of this console; null for everything that a browser could take for another site. */
function ownPath(next: string | null): string | null {
  if (!next || next.length > NEXT_LENGTH_MAX) return null;
  return /^\/(?![/\\])[\w\-./?=&%]*$/.test(next) ? next : null;
}

function placeOf(digest: string): { table: string; id: string; field: string } {
  return { table: 'oidc_flow', id: digest, field: 'secrets' };
}
