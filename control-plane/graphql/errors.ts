/**
 * The two kinds of failure of an operation: GraphQL errors with a code, and user errors in a mutation's
 * payload.
 */
import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { GraphQLFormattedError } from 'graphql';
import { GatewayError } from '@gateway/shared/failures';
import { unwrapResolverError } from '@apollo/server/errors';
import { Field, ObjectType } from 'type-graphql';
import { isDatabaseAway } from '../database/away.ts';
import { describeEnum } from './enums.ts';

/** Codes of GraphQL errors. A failure that the user can correct is a user error instead. */
export type RequestErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'REAUTH_REQUIRED'
  | 'BAD_USER_INPUT'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'RATE_LIMITED'
  | 'QUERY_TOO_COMPLEX'
  | 'REVISION_GAP'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_SERVER_ERROR';

/** A GraphQL error with a stable `extensions.code`; callers see its message as it is. */
export function requestError(
  code: RequestErrorCode,
  message: string,
  extensions: Record<string, unknown> = {},
): GraphQLError {
  return new GraphQLError(message, { extensions: { ...extensions, code } });
}

export const UserErrorCode = describeEnum(
  'UserErrorCode',
  'Stable codes of failures that the caller can correct.',
  {
    INVALID: 'The value is not valid; the message says which values are.',
    REQUIRED: 'A value is missing.',
    TAKEN: 'The value is already in use.',
    NOT_FOUND: 'There is no such object, or it belongs to another account.',
    CONFLICT: 'The state of the object does not allow this.',
    STALE_VERSION: 'The object has changed since it was read; read it again.',
    LIMIT_REACHED: 'A limit on number or size is reached.',
    CONVERSATION_FULL: 'The stored chat has reached its maximum size; continue in a new chat.',
    STORAGE_FULL: 'The account has reached its limit of stored chats; delete some, or use a temporary chat.',
    INSUFFICIENT_BALANCE: 'The balance of the wallet is too low.',
    QUOTE_EXPIRED: 'The quote has expired; request a new one.',
    PRICE_CHANGED: 'The price has changed since it was shown.',
    STOREFRONT_CLOSED: 'Dedicated pools are not on sale now.',
    SUBDOMAIN_TAKEN: 'Another pool has this subdomain.',
    SUBDOMAIN_RESERVED: 'This subdomain is reserved.',
    MODEL_UNAVAILABLE: 'The model is not available now.',
    GROUP_NOT_ALLOWED: 'The account may not use this billing group.',
    KEY_ALREADY_REVEALED: 'The secret was shown already and is not stored; rotate the key instead.',
    POOL_EXPIRED: 'The paid period of the pool has ended.',
    POLICY_NOT_ACCEPTED: 'The privacy policy must be accepted.',
    POLICY_VERSION_OUTDATED: 'A newer privacy policy is in force; accept that version.',
    PASSWORD_WEAK: 'The password is too short or too simple.',
    PASSWORD_BREACHED: 'The password is on public lists of leaked passwords.',
    CREDENTIALS_INVALID: 'E-mail address, password or link is wrong.',
    TOTP_REQUIRED: 'A code of the authenticator app is required.',
    REAUTH_REQUIRED: 'The user must authenticate again.',
    PAYMENT_PROVIDER_ERROR: 'The payment provider refused the payment or did not answer.',
    PERSONAL_INTELLIGENCE_OFF: 'Personal Intelligence is switched off.',
    IDEMPOTENCY_MISMATCH: 'This idempotency key was used with another input.',
    SPEND_LIMIT_REACHED: 'The spend limit of the key is used up.',
    WALLET_FROZEN: 'The wallet is frozen.',
    UPSTREAM_FAILED: 'The model stopped before finishing its answer; try again.',
    NOT_STORED: 'The reply is charged but could not be stored; copy its text.',
  },
);
export type UserErrorCode = keyof typeof UserErrorCode;

/** Whether a stored text is a code that this release knows. */
export function isUserErrorCode(text: string | null): text is UserErrorCode {
  return text !== null && Object.hasOwn(UserErrorCode, text);
}

/** A failure of a mutation that the caller can correct. */
@ObjectType({
  description: 'A failure of a mutation that the caller can correct. All other failures are GraphQL errors.',
})
export class UserError {
  @Field(() => UserErrorCode, { description: 'Stable code. Programs should use it instead of the message.' })
  code!: UserErrorCode;

  @Field(() => String, { description: 'What is wrong and what to do next, for people.' })
  message!: string;

  @Field(() => [String], { nullable: true, description: 'Path of the invalid input field.' })
  field?: string[] | null;
}

/** Thrown by services for a failure that the user can correct; `outcome` turns it into a user error. */
export class UserFailure extends Error {
  readonly code: UserErrorCode;
  readonly field: string[] | null;

  constructor(code: UserErrorCode, message: string, field?: string) {
    super(message);
    this.name = 'UserFailure';
    this.code = code;
    this.field = field ? ['input', field] : null;
  }
}

/**
 * A mutation's payload: the result of `work`, or `empty` with the UserFailure that it threw. Rethrows other
 * errors.
 */
export async function outcome<Empty extends object, Done extends object>(
  empty: Empty,
  work: () => Promise<Done>,
): Promise<(Empty | Done) & { userErrors: UserError[] }> {
  try {
    return { ...(await work()), userErrors: [] };
  } catch (error) {
    if (!(error instanceof UserFailure)) throw error;
    return { ...empty, userErrors: [{ code: error.code, message: error.message, field: error.field }] };
  }
}

/** Codes of errors whose message is about the request and is shown to the caller. */
const OPEN_CODES: ReadonlySet<unknown> = new Set([
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'REAUTH_REQUIRED',
  'BAD_USER_INPUT',
  'GRAPHQL_VALIDATION_FAILED',
  'GRAPHQL_PARSE_FAILED',
  'RATE_LIMITED',
  'QUERY_TOO_COMPLEX',
  'REVISION_GAP',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** V8's message if the recursive parser exceeds the stack on a deeply nested document. */
const STACK_EXCEEDED = 'Maximum call stack size exceeded';

/** The message while the database does not answer. */
export const DATABASE_AWAY = 'The database does not answer. Try again in a moment.';

/** Logs an error that the caller must not see. */
export type ErrorLog = (entry: { requestId: string; error: unknown }) => void;

/**
 * The error for the caller: one with an open code as it is, SERVICE_UNAVAILABLE while the database does not
 * answer, any other as an internal error with a request id.
 */
export function maskError(
  formatted: GraphQLFormattedError,
  error: unknown,
  log: ErrorLog,
): GraphQLFormattedError {
  const code = formatted.extensions?.['code'];
  const { stacktrace: _, ...extensions } = formatted.extensions ?? {};
  const cause = unwrapResolverError(error);
  if (cause instanceof GatewayError && cause.code !== 'internal') {
    return {
      ...formatted,
      message: cause.message,
      extensions: { ...extensions, code: cause.code.toUpperCase() },
    };
  }
  if (code === 'GRAPHQL_PARSE_FAILED' && formatted.message.includes(STACK_EXCEEDED))
    return { message: 'The document is nested too deeply. Split it into several operations.', extensions };
  if (OPEN_CODES.has(code)) return { ...formatted, extensions };
  const place = {
    ...(formatted.path ? { path: formatted.path } : {}),
    ...(formatted.locations ? { locations: formatted.locations } : {}),
  };
  if (isDatabaseAway(cause))
    return { message: DATABASE_AWAY, ...place, extensions: { code: 'SERVICE_UNAVAILABLE' } };
  const requestId = randomUUID();
  log({ requestId, error: cause });
  const message = 'Internal error. Try again; if it persists, report the request id.';
  return { message, ...place, extensions: { code: 'INTERNAL_SERVER_ERROR', requestId } };
}
