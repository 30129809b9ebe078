/** Parses the WebAuthn responses of browsers (Level 3, JSON forms). */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { invalidPasskey } from './passkey.challenge.ts';

const TEXT_LENGTH_MAX = 20_000;
const TRANSPORTS_MAX = 8;

/** The response to a registration. Unknown members are dropped. Throws CREDENTIALS_INVALID if malformed. */
export function parseRegistration(value: unknown): RegistrationResponseJSON {
  const { id, rawId, response } = partsOf(value);
  const transports = response['transports'];
  const listed = Array.isArray(transports) ? transports.slice(0, TRANSPORTS_MAX) : [];
  return {
    id,
    rawId,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: textOf(response['clientDataJSON']),
      attestationObject: textOf(response['attestationObject']),
      transports: listed.filter((name) => typeof name === 'string'),
    },
  };
}

/**
 * The response to an authentication. Unknown members are dropped. Throws CREDENTIALS_INVALID if malformed.
 */
export function parseAuthentication(value: unknown): AuthenticationResponseJSON {
  const { id, rawId, response } = partsOf(value);
  const userHandle = response['userHandle'];
  return {
    id,
    rawId,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: textOf(response['clientDataJSON']),
      authenticatorData: textOf(response['authenticatorData']),
      signature: textOf(response['signature']),
      ...(typeof userHandle === 'string' && { userHandle: textOf(userHandle) }),
    },
  };
}

/** The challenge that the response claims to have signed. Throws CREDENTIALS_INVALID if malformed. */
export function challengeOf(clientDataJSON: string): string {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
    return textOf(recordOf(data)['challenge']);
  } catch {
    throw invalidPasskey();
  }
}

function partsOf(value: unknown): { id: string; rawId: string; response: Record<string, unknown> } {
  const record = recordOf(value);
  if (record['type'] !== 'public-key') throw invalidPasskey();
  return { id: textOf(record['id']), rawId: textOf(record['rawId']), response: recordOf(record['response']) };
}

function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidPasskey();
  return value as Record<string, unknown>;
}

function textOf(value: unknown): string {
  if (typeof value === 'string' && value.length > 0 && value.length <= TEXT_LENGTH_MAX) return value;
  throw invalidPasskey();
}
