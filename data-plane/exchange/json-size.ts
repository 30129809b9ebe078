/**
 * Limits the number of values in a JSON body before it is parsed: a parsed value takes far more memory than
 * its bytes, and a member with a new name far more time.
 */
import { GatewayError } from '@gateway/shared/failures';
import { JSON_CONTAINERS, JSON_COUNTED_BYTES, JSON_MEMBERS, JSON_VALUES } from '../limits.ts';
import { COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE, endOfString } from './json-scan.ts';

/**
 * Throws `body_too_large` above the limits of objects and lists, members, or values. Skips strings. `text`
 * has one character per byte.
 */
export function refuseTooManyValues(text: string): void {
  if (text.length <= JSON_COUNTED_BYTES) return;
  let containers = 0;
  let commas = 0;
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === COMMA) commas += 1;
    else if (code === COLON) members += 1;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) containers += 1;
  }
  if (containers > JSON_CONTAINERS) throw tooMany(JSON_CONTAINERS, 'objects and lists');
  if (members > JSON_MEMBERS) throw tooMany(JSON_MEMBERS, 'members');
  if (containers + commas > JSON_VALUES) throw tooMany(JSON_VALUES, 'values');
}

function tooMany(limit: number, counted: string): GatewayError {
  const message = `The request body has more than ${limit} ${counted}. Split it into several requests.`;
  return new GatewayError('body_too_large', message);
}
