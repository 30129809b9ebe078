/**
 * The address to which the card processor sends its events. Nothing is stored before the signature is
 * verified, and requests without a valid one share one query per second.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Stripe from 'stripe';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import type { Actor } from '../../graphql/context.ts';
import { WEBHOOK_TOLERANCE_S } from '../../limits.ts';
import { webhookEvents } from '../payment.metrics.ts';
import { signingSecrets } from '../settings.service.ts';
import { applyEvent } from './events.service.ts';
import { eventOf } from './facts.ts';
import type { ProcessorEvent } from './facts.ts';
import { SigningSecrets } from './signing-secrets.ts';

/** Path of the webhook. */
export const WEBHOOK_PATH = '/webhooks/stripe';

const SIGNATURE_HEADER = 'stripe-signature';
/** Signatures in one header, each a comparison; the processor sends one per secret. */
const HEADER_LENGTH_MAX = 4096;

interface WebhookParts {
  em(): EntityManager;
  settings: { secretKey: string };
  log?: ((line: Record<string, unknown>) => void) | undefined;
}

/**
 * Registers the webhook. Answers 404 without a configured secret, 400 for a body that is not signed with one
 * of the secrets within the last five minutes, and 200 for everything else, also for unknown events.
 */
export function serveWebhook(server: FastifyInstance, parts: WebhookParts): void {
  const read = () => signingSecrets(parts.em(), parts.settings.secretKey);
  const cache = new SigningSecrets(read);
  server.post(WEBHOOK_PATH, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { secrets, event } = await authenticate(request, cache, read);
    if (secrets.length === 0) return reply.code(404).send({ error: 'Payments by card are not configured.' });
    if (!event) return refuse(reply);
    const outcome = await applyEvent(parts.em(), event, actorOf(request, event));
    if (outcome === 'UNMATCHED') {
      const message = 'An event of the card processor belongs to no top-up of this installation.';
      parts.log?.({ level: 'warn', requestId: request.id, message, event: event.id, type: event.type });
    }
    return { received: true };
  });
}

interface Authenticated {
  secrets: readonly string[];
  event: ProcessorEvent | null;
}

/** The event of the request if it is signed with a present secret, and the secrets that were tried. */
async function authenticate(
  request: FastifyRequest,
  cache: SigningSecrets,
  read: () => Promise<string[]>,
): Promise<Authenticated> {
  let secrets = await cache.known();
  let event = verified(request, secrets);
  if (!event && isRecent(request)) {
    // The secret may have been added since the last read.
    secrets = await cache.next();
    event = verified(request, secrets);
  }
  if (!event) return { secrets, event };
  // The secret may have been removed since the last read. Only its holders cause this query.
  const present = await read();
  return { secrets: present, event: verified(request, present) };
}

/** Whether the header names a time at which an event may have been signed. */
function isRecent({ headers }: FastifyRequest): boolean {
  const header = headers[SIGNATURE_HEADER];
  const time = typeof header === 'string' ? /^t=(\d{1,12}),/.exec(header)?.[1] : undefined;
  return time !== undefined && Date.now() / 1000 - Number(time) <= WEBHOOK_TOLERANCE_S;
}

/** The event of the request, if one of the secrets signed its body lately; else null. */
export function verified(request: FastifyRequest, secrets: readonly string[]): ProcessorEvent | null {
  const header = request.headers[SIGNATURE_HEADER];
  const { body } = request;
  if (typeof header !== 'string' || header.length > HEADER_LENGTH_MAX || !Buffer.isBuffer(body)) return null;
  for (const secret of secrets) {
    try {
      return eventOf(Stripe.webhooks.constructEvent(body, header, secret, WEBHOOK_TOLERANCE_S));
    } catch (error) {
      // Signed with another secret, or not at all. A signed body that is not JSON is no event either.
      if (error instanceof SyntaxError) return null;
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
    }
  }
  return null;
}

function refuse(reply: FastifyReply): FastifyReply {
  webhookEvents.inc({ outcome: 'refused' });
  const error = 'The signature is missing, wrong or too old. Check the secret of the webhook and the clock.';
  return reply.code(400).send({ error });
}

function actorOf(request: FastifyRequest, event: ProcessorEvent): Actor {
  return { ...SYSTEM_ACTOR, kind: 'WEBHOOK', id: event.id, label: 'card processor', requestId: request.id };
}
