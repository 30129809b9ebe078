/** Calls of the card processor's API, with the address and the key of the settings. */
import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { EntityManager } from '@mikro-orm/postgresql';
import Stripe from 'stripe';
import { UserFailure } from '../../graphql/errors.ts';
import { query, sql } from '../../database/sql.ts';
import { publicLookup } from '../../upstreams/address-guard.ts';
import { processorCalls } from '../payment.metrics.ts';
import { apiKeyOf, paymentSettings } from '../settings.service.ts';
import type { PaymentSettingsRow } from '../settings.entity.ts';

/** Time for one call, in ms. The processor's slowest calls, off-session payments, take some ten seconds. */
const CALL_MS = 20_000;
/** Further attempts after a lost connection. They carry the same idempotency key. */
const RETRIES = 1;

/** The settings of the installation with which the processor is called. */
export interface ProcessorAccess {
  secretKey: string;
  /** Whether the processor may have a private address. The demo's processor always may. */
  allowPrivateUpstreams: boolean;
}

/** The processor's API, and the settings with which it is called. */
export interface CardProcessor {
  stripe: Stripe;
  settings: PaymentSettingsRow;
}

/**
 * A call that the processor refused (`refused`: repeating it changes nothing), or that may or may not have
 * been executed.
 */
export class ProcessorFailure extends UserFailure {
  readonly refused: boolean;
  /**
   * Whether the processor decided about this call alone: not about its idempotency key, which another call
   * has taken, nor about the API key.
   */
  readonly isDecision: boolean;
  /** Whether a call with other parameters has taken the idempotency key. */
  readonly isKeyTaken: boolean;
  /** Type, code and status of the processor's error. */
  readonly reason: string;
  /** The processor's code alone, e.g. `card_declined`; empty without one. */
  readonly processorCode: string;

  constructor(error: unknown) {
    const isRefused = isRefusal(error);
    super(
      'PAYMENT_PROVIDER_ERROR',
      isRefused
        ? 'The card processor refused this. Try another amount or card, or ask the operator.'
        : 'The card processor does not answer. Try again in a moment.',
    );
    this.refused = isRefused;
    this.isKeyTaken = error instanceof Stripe.errors.StripeIdempotencyError;
    this.isDecision = isRefused && !this.isKeyTaken && !isAccessRefusal(error);
    this.reason = codeOf(error);
    this.processorCode = error instanceof Stripe.errors.StripeError ? (error.code ?? '') : '';
  }
}

/** The processor; null if payments by card are not configured. */
export async function openProcessor(
  em: EntityManager,
  { secretKey, allowPrivateUpstreams }: ProcessorAccess,
): Promise<CardProcessor | null> {
  const settings = await paymentSettings(em);
  const key = apiKeyOf(settings, secretKey);
  if (key === null) return null;
  const allowPrivate = allowPrivateUpstreams || settings.playMoney;
  return { stripe: clientOf(settings.apiAddress, { key, allowPrivate }), settings };
}

/**
 * The processor, also while no new payments by card are offered: earlier ones can be refunded and cancelled.
 * Throws CONFLICT if it is not configured.
 */
export async function requireProcessor(em: EntityManager, access: ProcessorAccess): Promise<CardProcessor> {
  const processor = await openProcessor(em, access);
  if (processor) return processor;
  throw new UserFailure('CONFLICT', 'No card processor is set up. Enter its key in the payment settings.');
}

/** The processor for a new payment. Throws CONFLICT if payments by card are not offered now. */
export async function requireCards(em: EntityManager, access: ProcessorAccess): Promise<CardProcessor> {
  const processor = await openProcessor(em, access);
  if (processor?.settings.cardEnabled) return processor;
  throw new UserFailure('CONFLICT', 'Payments by card are not offered now. Choose another method.');
}

/**
 * Runs a call, and notes its result for the health of the processor. Throws ProcessorFailure. The text of the
 * processor's error may quote input, so that only its type, code and status are kept.
 */
export async function callProcessor<T>(em: EntityManager, call: () => Promise<T>): Promise<T> {
  try {
    const result = await call();
    processorCalls.inc({ result: 'ok' });
    await note(em, null);
    return result;
  } catch (error) {
    const failure = new ProcessorFailure(error);
    processorCalls.inc({ result: failure.refused ? 'refused' : 'failed' });
    // A declined card says nothing about the health of the processor.
    await note(em, error instanceof Stripe.errors.StripeCardError ? null : codeOf(error));
    throw failure;
  }
}

/** The host was public when it was entered; a guarded client checks it again at each connection. */
function clientOf(address: string, { key, allowPrivate }: { key: string; allowPrivate: boolean }): Stripe {
  const { hostname, port, protocol } = new URL(address);
  const isPlain = protocol === 'http:';
  const guard = { lookup: publicLookup };
  return new Stripe(key, {
    host: hostname,
    port: port || (isPlain ? 80 : 443),
    protocol: isPlain ? 'http' : 'https',
    timeout: CALL_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(!allowPrivate && { httpAgent: isPlain ? new PlainAgent(guard) : new SecureAgent(guard) }),
  });
}

/** Whether the processor has decided that the call is not executed. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Stripe.errors.StripeError)) return false;
  const { statusCode = 0 } = error;
  return statusCode >= 400 && statusCode < 500 && statusCode !== 409 && statusCode !== 429;
}

/** Whether the API key is wrong, or may not do this. */
function isAccessRefusal(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && [401, 403].includes(error.statusCode ?? 0);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Stripe.errors.StripeError)) return 'unknown';
  return [error.type, error.code, error.statusCode].filter(Boolean).join(' ');
}

async function note(em: EntityManager, error: string | null): Promise<void> {
  // At most once in ten seconds, so that many payments do not write one row again and again.
  const statement =
    error === null
      ? sql`update payment_settings set last_success_at = now()
          where last_success_at is null or last_success_at < now() - interval '10 seconds'
            or last_error_at > last_success_at`
      : sql`update payment_settings set last_error = ${error}, last_error_at = now()`;
  await query(em.fork(), statement);
}
