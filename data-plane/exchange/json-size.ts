/**
 * Limits the number of values in a JSON body before it is parsed: a parsed value takes far more memory than
 * its bytes, and a member with a new name far more time.
 */
import { GatewayError } from '@gateway/shared/failures';
import { JSON_CONTAINERS, JSON_COUNTED_BYTES, JSON_MEMBERS, JSON_VALUES } from '../limits.ts';
import { endOfString } from './json-members.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Throws `body_too_large` above the limits of objects and lists, members, or values. Skips strings. */
export function refuseTooManyValues(bytes: Buffer): void {
  if (bytes.length <= JSON_COUNTED_BYTES) return;
  let containers = 0;
  let commas = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === COMMA) commas += 1;
    else if (byte === COLON) members += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) containers += 1;
  }
  if (containers > JSON_CONTAINERS) throw tooMany(JSON_CONTAINERS, 'objects and lists');
  if (members > JSON_MEMBERS) throw tooMany(JSON_MEMBERS, 'members');
  if (containers + commas > JSON_VALUES) throw tooMany(JSON_VALUES, 'values');
}

function tooMany(limit: number, counted: string): GatewayError {
  const message = `The request body has more than ${limit} ${counted}. Split it into several requests.`;
  return new GatewayError('body_too_large', message);
}
