/** The two ways an operation can fail: a coded GraphQL error, or user errors inside a mutation's payload. */
import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { GraphQLFormattedError } from 'graphql';
import { GatewayError } from '@gateway/shared/failures';
import { unwrapResolverError } from '@apollo/server/errors';
import { Field, ObjectType } from 'type-graphql';
import { describeEnum } from './enums.ts';

/**
 * Codes of top-level errors: who asks, how much, or our own fault. What a user can mend is a user error
 * instead.
 */
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
  | 'INTERNAL_SERVER_ERROR';

/** A GraphQL error with a stable `extensions.code`; the message is for people and passes unmasked. */
export function requestError(
  code: RequestErrorCode,
  message: string,
  extensions: Record<string, unknown> = {},
): GraphQLError {
  return new GraphQLError(message, { extensions: { ...extensions, code } });
}

export const UserErrorCode = describeEnum(
  'UserErrorCode',
  'Stable codes of failures that the caller can mend.',
  {
    INVALID: 'The value is not acceptable; the message says what is.',
    REQUIRED: 'A value is missing.',
    TAKEN: 'Somebody already has this value.',
    NOT_FOUND: 'There is no such object, or it belongs to somebody else.',
    CONFLICT: 'The object is in a state that does not allow this.',
    STALE_VERSION: 'The object changed since it was read; read it again.',
    LIMIT_REACHED: 'A limit on number or size is reached.',
    CONVERSATION_FULL: 'The chat holds as much as a stored chat may; go on in a new one.',
    STORAGE_FULL: 'No more chats are stored for this account; delete some, or begin a temporary one.',
    INSUFFICIENT_BALANCE: 'The wallet does not hold enough.',
    QUOTE_EXPIRED: 'The quote is too old; ask for a new one.',
    PRICE_CHANGED: 'The price changed since it was shown.',
    STOREFRONT_CLOSED: 'Dedicated pools are not on sale now.',
    SUBDOMAIN_TAKEN: 'Another pool has this subdomain.',
    SUBDOMAIN_RESERVED: 'This subdomain is kept back.',
    MODEL_UNAVAILABLE: 'The model cannot be chosen now.',
    GROUP_NOT_ALLOWED: 'The account may not use this billing group.',
    KEY_ALREADY_REVEALED: 'The secret was shown already and exists nowhere any more; rotate the key instead.',
    POOL_EXPIRED: 'The pool is past its paid period.',
    POLICY_NOT_ACCEPTED: 'The privacy policy has to be accepted.',
    POLICY_VERSION_OUTDATED: 'A newer privacy policy is in force; accept that one.',
    PASSWORD_WEAK: 'The password is too short or too simple.',
    PASSWORD_BREACHED: 'The password is on public lists of leaked passwords.',
    CREDENTIALS_INVALID: 'E-mail address, password or link are not right.',
    TOTP_REQUIRED: 'A code of the authenticator app is needed.',
    REAUTH_REQUIRED: 'The password is needed again.',
    PAYMENT_PROVIDER_ERROR: 'The payment provider refused or did not answer.',
    PERSONAL_INTELLIGENCE_OFF: 'Personal Intelligence is switched off.',
    IDEMPOTENCY_MISMATCH: 'This idempotency key was used with another input.',
    SPEND_LIMIT_REACHED: 'The spend limit of the key is used up.',
    WALLET_FROZEN: 'The wallet is frozen.',
    UPSTREAM_FAILED: 'The model did not answer to the end; try again.',
  },
);
export type UserErrorCode = keyof typeof UserErrorCode;

/** Whether a text that was stored is a code that this release knows. */
export function isUserErrorCode(text: string | null): text is UserErrorCode {
  return text !== null && Object.hasOwn(UserErrorCode, text);
}

/** One expected, fixable failure of a mutation. */
@ObjectType({
  description: 'A failure of a mutation that the caller can mend. All other failures are GraphQL errors.',
})
export class UserError {
  @Field(() => UserErrorCode, { description: 'Stable code; switch on it, never on the message.' })
  code!: UserErrorCode;

  @Field(() => String, { description: 'What went wrong and what to do next, for people.' })
  message!: string;

  @Field(() => [String], { nullable: true, description: 'Path of the offending input field.' })
  field?: string[] | null;
}

/**
 * Thrown by services for a failure that the user can mend; `outcome` turns it into a payload's user error.
 */
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
 * A mutation's payload: the result of `work`, or `empty` with the user error that it threw. Other errors
 * pass.
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

/** Codes that graphql-js and Apollo set themselves and whose messages speak of the request alone. */
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

/** The parser goes down into a document by calls of its own: what V8 says where it cannot. */
const STACK_EXCEEDED = 'Maximum call stack size exceeded';

/** What is logged of a failure that the caller must not see. */
export type ErrorLog = (entry: { requestId: string; error: unknown }) => void;

/**
 * What the caller sees of an error: coded ones as they are, everything else as our fault with a request id
 * for the log.
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
    return { message: 'The document is nested far too deeply.', extensions };
  if (OPEN_CODES.has(code)) return { ...formatted, extensions };
  const requestId = randomUUID();
  log({ requestId, error: cause });
  return {
    message: 'The request failed on our side. Try again; if it stays, report the request id.',
    ...(formatted.path ? { path: formatted.path } : {}),
    ...(formatted.locations ? { locations: formatted.locations } : {}),
    extensions: { code: 'INTERNAL_SERVER_ERROR', requestId },
  };
}
