/** Failures of requests that name a stored object, in the words of the clients' formats. */
import { GatewayError } from '@gateway/shared/failures';
import type { StateKind } from './sealed-ids.ts';

/** Characters of a client's id that a message repeats. */
const SHOWN_CHARACTERS = 100;

const NAMES: Record<StateKind, string> = {
  response: 'Response',
  conversation: 'Conversation',
  cache: 'CachedContent',
};

const ADVICE =
  'It was deleted, has expired, was not stored, or belongs to another account. ' +
  'Send the content itself, or store it again.';

/** `not_found` for an object that a path names. */
export function missingObject(kind: StateKind, id: string): GatewayError {
  return new GatewayError('not_found', `${NAMES[kind]} with id '${shown(id)}' not found. ${ADVICE}`);
}

/**
 * The failure for an object that a member of a request names. OpenAI answers 400 with a code of its own for
 * an earlier response, and 404 for everything else. https://platform.openai.com/docs/guides/error-codes
 */
export function missingReference(kind: StateKind, id: string, parameter: string): GatewayError {
  if (kind !== 'response') {
    const { code, message } = missingObject(kind, id);
    return new GatewayError(code, message, { parameter });
  }
  const advice =
    'Send the whole conversation instead. Answers are stored only if the request says `store: true`.';
  return new GatewayError(
    'invalid_request',
    `Previous response with id '${shown(id)}' not found. ${advice}`,
    { parameter, formatCode: 'previous_response_not_found' },
  );
}

/** The id without control characters, shortened. */
function shown(id: string): string {
  return id.slice(0, SHOWN_CHARACTERS).replaceAll(/[^\x20-\x7e]/g, '');
}
