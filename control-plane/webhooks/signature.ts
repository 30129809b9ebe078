/**
 * Signs webhooks by the Standard Webhooks specification:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
/** The specification wants 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** A new secret, as the receiver enters it. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The signed parts of a delivery. */
interface SignedMessage {
  /** The same in all attempts and repetitions of an event, so that receivers can ignore the second one. */
  id: string;
  /** Time of the attempt, in seconds since 1970. */
  timestamp: number;
  body: string;
}

/** The headers of a delivery, with one signature for each valid secret. */
export function signedHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
