/**
 * The OpenID Connect flow: redirect to the identity provider, callback, and ticket to sign in with. A cookie
 * binds each flow to one browser, so that a link cannot sign somebody in to another person's account.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../graphql/errors.ts';
import type { Settings } from '../process/settings.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { decryptSecret, encryptSecret } from '../upstreams/stored-secrets.ts';
import type { SecretLocation } from '../upstreams/stored-secrets.ts';
import type { OidcClient, OidcIdentity, OidcSecrets } from './oidc.client.ts';

/** How long a user may take at the provider, and then to accept the policy, in ms. */
export const FLOW_MS = 15 * 60_000;
const NEXT_LENGTH_MAX = 500;

/** Path of the console to which the provider redirects browsers. */
export const CALLBACK_PATH = '/oidc/callback';

/** Start of a flow. */
export interface FlowStart {
  client: OidcClient;
  settings: Pick<Settings, 'consoleUrl' | 'secretKey'>;
  browserToken: string;
  /** The user who links the identity; null to sign in. */
  userId: string | null;
  /** Path of the console page to open after signing in. */
  next: string | null;
}

/** Stores a new flow, and returns the provider's address for the browser. */
export async function beginFlow(em: EntityManager, start: FlowStart): Promise<string> {
  const { client, settings } = start;
  const { url, secrets } = await client.begin(settings.consoleUrl + CALLBACK_PATH);
  const digest = digestOf(secrets.state);
  const sealed = encryptSecret(settings.secretKey, JSON.stringify(secrets), locationOf(digest));
  await query(
    em,
    sql`insert into oidc_flow (state_digest, browser_digest, sealed, user_id, next, expires_at)
    values (${digest}, ${digestOf(start.browserToken)}, ${sealed}, ${start.userId},
      ${consolePath(start.next)}, ${new Date(Date.now() + FLOW_MS)})`,
  );
  return url;
}

/** Result of a flow: the identity, and the `userId` and `next` that the flow started with. */
export interface CompletedFlow {
  identity: OidcIdentity;
  userId: string | null;
  next: string | null;
}

/** The callback request of a browser. */
export interface FlowCallback {
  client: OidcClient;
  settings: Pick<Settings, 'consoleUrl' | 'secretKey'>;
  browserToken: string | null;
  /** Query string of the callback, with the question mark. */
  search: string;
}

/**
 * Completes a flow, once, in the browser that started it, and returns the identity. Rejects if the flow is
 * unknown or the provider's response is invalid.
 */
export async function finishFlow(em: EntityManager, callback: FlowCallback): Promise<CompletedFlow> {
  const { client, settings, browserToken, search } = callback;
  const url = new URL(`${settings.consoleUrl}${CALLBACK_PATH}${search}`);
  const digest = digestOf(url.searchParams.get('state') ?? '');
  const row = await queryOne<{ sealed: string; user_id: string | null; next: string | null }>(
    em,
    sql`delete from oidc_flow where state_digest = ${digest} and expires_at > now()
    and browser_digest = ${digestOf(browserToken ?? '')} returning sealed, user_id, next`,
  );
  if (!row)
    throw new Error('The sign-in flow is unknown, expired, completed or from another browser. Start again.');
  const text = decryptSecret(settings.secretKey, row.sealed, locationOf(digest));
  const secrets = JSON.parse(text) as OidcSecrets;
  return { identity: await client.finish(url, secrets), userId: row.user_id, next: row.next };
}

/** Creates a ticket with which this browser can sign in as this identity once. Only its digest is stored. */
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

/** The identity of the ticket, which stays valid. Throws CREDENTIALS_INVALID. */
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
  return identityOf(row);
}

/**
 * Deletes the ticket and returns its identity. The ticket stays valid if the transaction is rolled back, as
 * it is while the policy is not accepted. Throws CREDENTIALS_INVALID.
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
  return identityOf(row);
}

/** The failure for an unknown, used or expired ticket. */
export function invalidTicket(): UserFailure {
  const message = 'This sign-in has expired or was used already. Sign in at your provider again.';
  return new UserFailure('CREDENTIALS_INVALID', message, 'ticket');
}

function identityOf(row: TicketRow | undefined): OidcIdentity {
  if (!row) throw invalidTicket();
  return { issuer: row.issuer, subject: row.subject, email: row.email, displayName: row.display_name };
}

/** `next` if it is a path of the console; null for anything that a browser could resolve to another site. */
function consolePath(next: string | null): string | null {
  if (!next || next.length > NEXT_LENGTH_MAX) return null;
  return /^\/(?![/\\])[\w\-./?=&%]*$/.test(next) ? next : null;
}

function locationOf(digest: string): SecretLocation {
  return { table: 'oidc_flow', id: digest, field: 'secrets' };
}
