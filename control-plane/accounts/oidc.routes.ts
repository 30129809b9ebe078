/**
 * HTTP routes for the redirect to the identity provider and its callback. They open no session: the console
 * does so by the mutation `oidcSignIn`, with the ticket in the fragment of the address.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { issueSecret } from '@gateway/shared/secrets';
import type { Context } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { Contexts } from '../request/request-context.ts';
import { countAction } from './rate-limits.ts';
import { linkIdentity } from './identity.service.ts';
import type { OidcClient } from './oidc.client.ts';
import { beginFlow, CALLBACK_PATH, finishFlow, FLOW_MS, issueTicket } from './oidc.flow.ts';
import type { CompletedFlow } from './oidc.flow.ts';

/** Path that starts a sign-in at the identity provider. */
export const START_PATH = '/oidc/start';

/** Console page that lists linked identities. */
const PROFILE_PATH = '/profile/security';

type Log = ((line: Record<string, unknown>) => void) | undefined;

/** Registers both routes. They answer 404 if no identity provider is configured. */
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
      if (!context.oidc)
        return reply.code(404).send({ error: 'No identity provider is configured. Set OIDC_ISSUER.' });
      reply.header('cache-control', 'no-store');
      const target = await work(context, context.oidc, request).catch((error: unknown) => {
        const message = 'The sign-in at the identity provider failed. Check its settings and availability.';
        log?.({ level: 'warn', requestId: request.id, message, ...reasonOf(error) });
        return failed;
      });
      return reply.redirect(target, 303);
    };
  const once = { exposeHeadRoute: false };
  server.get(START_PATH, once, route(start, '/sign-in?oidc=unavailable'));
  server.get(CALLBACK_PATH, once, route(finish, '/sign-in?oidc=failed'));
}

/** Sets the cookie that identifies the browser during a flow, and returns its token. */
export function ensureBrowserToken(context: Context): string {
  const token = context.browserToken ?? issueSecret('gwb');
  context.setBrowser(token, new Date(Date.now() + FLOW_MS));
  return token;
}

async function start(context: Context, client: OidcClient, request: FastifyRequest): Promise<string> {
  const { em, settings, ip } = context;
  await countAction(em, { purpose: 'oidc', email: null, ip });
  const { searchParams } = new URL(request.url, settings.consoleUrl);
  const browserToken = ensureBrowserToken(context);
  return beginFlow(em, { client, settings, browserToken, userId: null, next: searchParams.get('next') });
}

async function finish(context: Context, client: OidcClient, request: FastifyRequest): Promise<string> {
  const { em, settings, browserToken } = context;
  const { search } = new URL(request.url, settings.consoleUrl);
  const flow = await finishFlow(em, { client, settings, browserToken, search });
  if (flow.userId !== null) return link(context, flow);
  const ticket = await issueTicket(em, flow.identity, browserToken ?? '');
  const next = flow.next ? `?next=${encodeURIComponent(flow.next)}` : '';
  return `/sign-in${next}#oidc=${ticket}`;
}

/** Links the identity if the browser is still signed in as the user who started the flow. */
async function link({ em, viewer, ip }: Context, { identity, userId }: CompletedFlow): Promise<string> {
  if (!viewer?.session || viewer.id !== userId) return '/sign-in?oidc=failed';
  try {
    await linkIdentity(em, identity, { userId: viewer.id, ip });
    return `${PROFILE_PATH}?oidc=linked`;
  } catch (error) {
    if (error instanceof UserFailure) return `${PROFILE_PATH}?oidc=${error.code.toLowerCase()}`;
    throw error;
  }
}

/**
 * The library's error code, e.g. OAUTH_RESPONSE_BODY_ERROR. Its messages may quote the provider's response.
 */
function reasonOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { reason: 'unknown' };
  return { reason: 'code' in error ? error.code : error.name };
}
