/** Reads the request of a relayed family, JSON or form, just far enough to know what it wants. */
import { GatewayError } from '@gateway/shared/failures';
import type { Call } from '../call.ts';
import type { Exchange } from './exchange.ts';
import { readForm } from './form.ts';
import type { Form } from './form.ts';
import { replaceMembers } from './json-members.ts';
import type { Uploads } from './parked.ts';
import { openRelay } from './relay.ts';
import type { Payload, RelayParts } from './relay.ts';
import type { RelayKind } from './relay-kinds.ts';
import { parseRequestBody } from './request-body.ts';
import type { RequestBody } from './request-body.ts';

/** What reading a request needs. */
export interface RelayDoor {
  kind: RelayKind;
  uploads: Uploads;
  streamError: RelayParts['streamError'];
}

/**
 * The exchange of a relayed request. Throws `invalid_request` naming what is wrong with it, `body_too_large`,
 * `unavailable` where there is no room for its files.
 */
export async function openRelayed(call: Call, { kind, uploads, streamError }: RelayDoor): Promise<Exchange> {
  const { headers } = call;
  const contentType = headers['content-type'] ?? '';
  if (kind.body === 'form' || (kind.body === 'json-or-form' && /^multipart\//i.test(contentType))) {
    const { fields, files, payload } = await formOf(call, { kind, uploads });
    return openRelay({ kind, headers, streamError, payload, wants: kind.wants(fields, files) });
  }
  const body = parseRequestBody(await call.body(kind.bodyBytes));
  return openRelay({
    kind,
    headers,
    streamError,
    payload: jsonPayload(body),
    wants: kind.wants(body.value, []),
  });
}

async function formOf(call: Call, { kind, uploads }: Pick<RelayDoor, 'kind' | 'uploads'>): Promise<Form> {
  if (Number(call.headers['content-length'] ?? 0) > kind.bodyBytes) {
    const megabytes = Math.floor(kind.bodyBytes / (1024 * 1024));
    const message = `The request body is larger than ${megabytes} MB. Send a smaller one.`;
    throw new GatewayError('body_too_large', message);
  }
  const form = await readForm({
    body: call.incoming(),
    contentType: call.headers['content-type'] ?? '',
    limitBytes: kind.bodyBytes,
    uploads,
    park: (file) => call.onEnd(() => void file.drop()),
    digested: call.fingerprint !== undefined,
  });
  if (form.digest !== undefined) call.fingerprint?.(form.digest);
  return form;
}

/** The client's bytes, but for the model's name. */
export function jsonPayload(body: RequestBody): Payload {
  return {
    size: body.bytes.length,
    contentType: 'application/json',
    renamed: (model) => {
      const edits = new Map([['model', JSON.stringify(model)]]);
      const bytes = replaceMembers(body.bytes, body.members, edits);
      return { body: bytes, size: bytes.length };
    },
  };
}
