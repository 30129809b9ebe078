/** Reads a JSON request body strictly: what is billed must be what any upstream's parser reads. */
import { isUtf8 } from 'node:buffer';
import { GatewayError } from '@gateway/shared/failures';
import { isObject } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { scanMembers } from './json-members.ts';
import type { Member } from './json-members.ts';

/** A body both ways: as a value, and as bytes with the places of its members. */
export interface RequestBody {
  bytes: Buffer;
  value: JsonObject;
  members: readonly Member[];
}

/**
 * Throws `invalid_request` for everything but one JSON object in UTF-8 without duplicate or disguised
 * member names.
 */
export function parseRequestBody(bytes: Buffer): RequestBody {
  if (!isUtf8(bytes)) throw invalid('The request body is not valid UTF-8.');
  const value = parseJson(bytes);
  if (!isObject(value)) throw invalid('The request body must be a JSON object.');
  const members = scanMembers(bytes);
  for (const { name } of members) {
    // Parsers that ignore case would read another model than the one that is billed.
    if (name !== 'model' && name.toLowerCase() === 'model') {
      throw new GatewayError('invalid_request', 'Write the member "model" in lower case.', {
        parameter: name,
      });
    }
  }
  return { bytes, value, members };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw invalid('The request body is not valid JSON.');
  }
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}
