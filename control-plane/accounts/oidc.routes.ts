/**
 * The two addresses that a browser visits on its way to the identity provider and back. They set no session:
 * the console does, with the ticket that it finds in the fragment, by the mutation `oidcSignIn`.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { issueSecret } from '@gateway/shared/secrets';
import type { Context } from '../context.ts';
import { UserFailure } from '../errors.ts';
import type { Contexts } from '../request-context.ts';
import { beginAttempt } from './attempts.ts';
import { linkIdentity } from './identity.service.ts';
import type { OidcClient } from './oidc.client.ts';
import { beginFlow, CALLBACK_PATH, endFlow, FLOW_MS, issueTicket } from './oidc.flow.ts';
import type { Arrival } from './oidc.flow.ts';

/** Where the button leads. */
export const START_PATH = '/oidc/start';

/** The page that shows linked identities. */
const PROFILE_PATH = '/profile/security';

type Log = ((line: Record<string, unknown>) => void) | undefined;

/** Registers both. Without a provider they answer 404. */
export function serveOidc(server: FastifyInstance, contexts: Contexts, log: Log): void {
  const route =
    (
      work: (context: Context, oidc: OidcClient, request: FastifyRequest) => Promise<string>,
      failed: string,
    ) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const context = await contexts.ofRequest(request.raw, request.id, (cookie) => {
        reply.header('set-cookie', cookie);
      });
      if (!context.oidc) return reply.code(404).send({ error: 'There is nothing at this address.' });
      reply.header('cache-control', 'no-store');
      const target = await work(context, context.oidc, request).catch((error: unknown) => {
        const message = 'Signing in at the provider failed.';
        log?.({ level: 'warn', requestId: request.id, message, ...reasonOf(error) });
        return failed;
      });
      return reply.redirect(target, 303);
    };
  const once = { exposeHeadRoute: false };
  server.get(START_PATH, once, route(start, '/sign-in?oidc=unavailable'));
  server.get(CALLBACK_PATH, once, route(finish, '/sign-in?oidc=failed'));
}

/** Marks the browser where it is not marked yet, and says how it is. */
export function markBrowser(context: Context): string {
  const token = context.browserToken ?? issueSecret('gwb');
  context.setBrowser(token, new Date(Date.now() + FLOW_MS));
  return token;
}

async function start(context: Context, client: OidcClient, request: FastifyRequest): Promise<string> {
  const { em, settings, ip } = context;
  await beginAttempt(em, { purpose: 'oidc', email: null, ip });
  const { searchParams } = new URL(request.url, settings.consoleUrl);
  const browserToken = markBrowser(context);
  return beginFlow(em, { client, settings, browserToken, userId: null, next: searchParams.get('next') });
}

async function finish(context: Context, client: OidcClient, request: FastifyRequest): Promise<string> {
  const { em, settings, browserToken } = context;
  const { search } = new URL(request.url, settings.consoleUrl);
  const arrival = await endFlow(em, { client, settings, browserToken, search });
  if (arrival.userId !== null) return link(context, arrival);
  const ticket = await issueTicket(em, arrival.identity, browserToken ?? '');
  const next = arrival.next ? `?next=${encodeURIComponent(arrival.next)}` : '';
  return `/sign-in${next}#oidc=${ticket}`;
}

/** The session must still be that of the user who asked for the link. */
async function link({ em, viewer, ip }: Context, { identity, userId }: Arrival): Promise<string> {
  if (!viewer?.session || viewer.id !== userId) return '/sign-in?oidc=failed';
  try {
    await linkIdentity(em, identity, { userId: viewer.id, ip });
    return `${PROFILE_PATH}?oidc=linked`;
  } catch (error) {
    if (error instanceof UserFailure) return `${PROFILE_PATH}?oidc=${error.code.toLowerCase()}`;
    throw error;
  }
}

/** The library's code, e.g. OAUTH_RESPONSE_BODY_ERROR; messages may quote what the provider sent. */
function reasonOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { reason: 'unknown' };
  return { reason: 'code' in error ? error.code : error.name };
}
