/** Reads the request of a relayed family, JSON or form, just far enough to know what it asks for. */
import type { Call } from '../call/call.ts';
import type { Exchange } from './exchange.ts';
import { readForm } from './form.ts';
import type { Form } from './form.ts';
import { replaceMembers } from './json-members.ts';
import { relayExchange } from './relay.ts';
import type { Payload, RelayParts } from './relay.ts';
import type { RelayKind } from './relay-kinds.ts';
import { parseRequestBody } from './request-body.ts';
import type { RequestBody } from './request-body.ts';
import type { Spool } from './spool.ts';

interface RelayOptions {
  kind: RelayKind;
  /** Keeps the files of forms. */
  spool: Spool;
  streamError: RelayParts['streamError'];
}

/**
 * The exchange for a relayed request. Throws `invalid_request` naming the parameter, `body_too_large`, and
 * `unavailable` if there is no room for its files.
 */
export async function openRelayed(call: Call, { kind, spool, streamError }: RelayOptions): Promise<Exchange> {
  const { headers } = call;
  const contentType = headers['content-type'] ?? '';
  if (kind.body === 'form' || (kind.body === 'json-or-form' && /^multipart\//i.test(contentType))) {
    const { fields, files, payload } = await formOf(call, { kind, spool });
    return relayExchange({ kind, headers, streamError, payload, request: kind.read(fields, files) });
  }
  const body = parseRequestBody(await call.body(kind.bodyBytes), kind.members);
  const payload = jsonPayload(body);
  return relayExchange({ kind, headers, streamError, payload, request: kind.read(body.value, []) });
}

async function formOf(call: Call, { kind, spool }: Pick<RelayOptions, 'kind' | 'spool'>): Promise<Form> {
  const form = await readForm({
    body: call.incoming.chunks(kind.bodyBytes),
    walletId: call.incoming.payer?.walletId ?? '',
    contentType: call.headers['content-type'] ?? '',
    limitBytes: kind.bodyBytes,
    members: kind.members,
    spool,
    onFile: (file) => call.onEnd(() => void file.drop()),
    keep: (characters) => call.incoming.keep(characters),
    withDigest: call.fingerprint !== undefined,
  });
  if (form.digest !== undefined) call.fingerprint?.(form.digest);
  return form;
}

/** A JSON body that is sent with every byte unchanged but the model's name and what is left out. */
export function jsonPayload(body: RequestBody): Payload {
  return {
    size: body.bytes.length,
    contentType: 'application/json',
    findings: body.findings,
    withModel: (model, removals) => {
      const edits = new Map([['model', JSON.stringify(model)]]);
      const bytes = replaceMembers(body.bytes, body.members, { edits, removals });
      return { body: bytes, size: bytes.length };
    },
  };
}
