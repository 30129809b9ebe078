/**
 * What changes in a request whose upstream speaks the client's format: a few members, and no byte besides.
 */
import type { DialectName } from '@gateway/shared/catalog';
import type { IncomingHttpHeaders } from 'node:http';
import { objectOf } from '../dialects/fields.ts';
import { replaceMembers } from './json-members.ts';
import type { RequestBody } from './request-body.ts';

/** Members to replace (JSON text) or to leave out (undefined). */
type Edits = Map<string, string | undefined>;

interface MirrorOptions {
  dialect: DialectName;
  model: string;
  streamed: boolean;
}

/** The client's bytes with the upstream's name of the model, nothing stored, and usage asked for. */
export function mirrorBody(body: RequestBody, options: MirrorOptions): Buffer {
  return replaceMembers(body.bytes, body.members, editsOf(body, options));
}

/** Customers share the operator's account: nothing of theirs may be stored there. */
function editsOf({ value }: RequestBody, { dialect, model, streamed }: MirrorOptions): Edits {
  const edits: Edits = new Map();
  if (dialect === 'google-generate') {
    // The path names the model; one in the body would contradict it.
    if ('model' in value) edits.set('model', undefined);
    return edits;
  }
  edits.set('model', JSON.stringify(model));
  if (dialect === 'openai-responses') edits.set('store', 'false');
  if (dialect === 'openai-chat') {
    if ('store' in value) edits.set('store', undefined);
    const streamOptions = { ...objectOf(value.stream_options), include_usage: true };
    if (streamed) edits.set('stream_options', JSON.stringify(streamOptions));
  }
  return edits;
}

/** Headers of the client that belong to its format and go along with a mirrored request. */
export function mirrorHeaders(headers: IncomingHttpHeaders, dialect: DialectName): Record<string, string> {
  if (dialect !== 'anthropic-messages') return {};
  // Upstreams refuse a request without a version; a client that names one overrides ours.
  const kept: Record<string, string> = { 'anthropic-version': '2023-06-01' };
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith('anthropic-') && typeof value === 'string') kept[name] = value;
  }
  return kept;
}
