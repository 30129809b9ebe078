/** Checks of the input of webhook endpoints. */
import { checkPublic } from '../upstreams/address-guard.ts';
import type { Viewer } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { OPERATOR_EVENTS } from './event.types.ts';
import type { WebhookEvent } from './event.types.ts';

const DESCRIPTION_LENGTH_MAX = 200;

/**
 * The address in its stored form. Administrators may use private addresses if the operator allows them
 * (`allowPrivate`). Throws INVALID.
 */
export async function checkEndpointAddress(text: string, allowPrivate: boolean): Promise<string> {
  const url = new URL(text);
  if (url.hash) throw new UserFailure('INVALID', 'Remove the part after # from the address.', 'url');
  if (!allowPrivate) await checkPublic(url, 'url');
  return url.href;
}

/** The description without outer spaces. Throws INVALID. */
export function checkDescription(text: string): string {
  const description = text.trim();
  if (description.length <= DESCRIPTION_LENGTH_MAX) return description;
  const message = `Enter a description of at most ${DESCRIPTION_LENGTH_MAX} characters.`;
  throw new UserFailure('INVALID', message, 'description');
}

/**
 * The events without repetitions. Throws REQUIRED without events, and INVALID for events of the installation
 * unless the owner is an administrator whose access token may administer upstreams.
 */
export function checkEvents(events: readonly WebhookEvent[], owner: Viewer): WebhookEvent[] {
  const wanted = [...new Set(events)];
  if (wanted.length === 0) throw new UserFailure('REQUIRED', 'Choose at least one event.', 'events');
  const isOperator =
    owner.role === 'ADMIN' && (!owner.token || owner.token.scopes.includes('ADMIN_UPSTREAMS'));
  if (!isOperator && wanted.some((event) => OPERATOR_EVENTS.includes(event))) {
    const message = 'Only administrators can choose events of upstreams. Remove them.';
    throw new UserFailure('INVALID', message, 'events');
  }
  return wanted;
}
