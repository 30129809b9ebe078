/** Classifies the events of a realtime session for billing, and decides which ones are forwarded. No I/O. */
import { randomBytes } from 'node:crypto';
import type { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import { writeJson } from '../dialects/exact-json.ts';
import { objectOf, objectsOf, parseExactObject, textOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { encodeOpenAiError } from '../dialects/openai-errors.ts';
import { tokensOf } from '../exchange/relay-answer.ts';
import { withModelName } from '../upstreams/verdict.ts';

/**
 * How a response ended. `cancelled`: the client interrupted or cancelled it. `delivered`: every other end but
 * `failed`, also `incomplete`.
 */
export type ResponseEnd = 'delivered' | 'cancelled' | 'failed';

/** Meaning of an event of the upstream. */
export type ServerEvent =
  | { kind: 'response-created'; id: string }
  | { kind: 'response-content'; id: string }
  | { kind: 'response-done'; id: string; end: ResponseEnd; tokens: TokenCounts }
  | { kind: 'transcribed'; tokens: TokenCounts }
  | { kind: 'session'; transcriptionOnly: boolean }
  /** Not forwarded to the client. */
  | { kind: 'withheld' }
  | { kind: 'other' };

/** Members of events that hold text, audio or arguments. */
const CONTENT_MEMBERS = ['delta', 'text', 'transcript', 'audio', 'arguments'];
const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';

/**
 * The meaning of an event; undefined if the value has no `type`.
 * https://platform.openai.com/docs/api-reference/realtime-server-events
 */
export function readServerEvent(event: JsonObject | undefined): ServerEvent | undefined {
  const type = textOf(event?.type);
  if (!event || !type) return undefined;
  if (type === TRANSCRIBED) return { kind: 'transcribed', tokens: tokensOf(event.usage) };
  // The limits are those of the operator's account.
  if (type === 'rate_limits.updated') return { kind: 'withheld' };
  if (/^(transcription_)?session\.(created|updated)$/.test(type)) {
    // Older versions of the API name the kind of session in `object`.
    const { type: kind, object } = objectOf(event.session);
    return { kind: 'session', transcriptionOnly: /transcription/.test(`${textOf(kind)} ${textOf(object)}`) };
  }
  const response = objectOf(event.response);
  const id = textOf(event.response_id) || textOf(response.id);
  if (type === 'response.created') return { kind: 'response-created', id };
  if (type === 'response.done') {
    return { kind: 'response-done', id, end: endOf(response.status), tokens: tokensOf(response.usage) };
  }
  const isContent = type.startsWith('response.') && id && hasContent(event);
  return isContent ? { kind: 'response-content', id } : { kind: 'other' };
}

/** Whether an event has output of the model: events that announce an item or a part often have none. */
function hasContent(event: JsonObject): boolean {
  const item = objectOf(event.item);
  const holders = [event, objectOf(event.part), item, ...objectsOf(item.content)];
  return holders.some((holder) => CONTENT_MEMBERS.some((name) => textOf(holder[name]) !== ''));
}

function endOf(status: unknown): ResponseEnd {
  if (status === 'failed') return 'failed';
  return status === 'cancelled' ? 'cancelled' : 'delivered';
}

/** The two names of a session's model. */
export interface ModelNames {
  upstream: string;
  catalog: string;
}

/** The event for the client: `text`, its JSON, without the upstream's model and the operator's errors. */
export function forwardedEvent(event: JsonObject, text: string, models: ModelNames): string {
  const shown = withoutOperatorErrors(event, text);
  const names = ['session', 'response'].some((holder) => objectOf(event[holder]).model !== undefined);
  if (event.type !== 'error' && !names) return shown;
  return withModelName(shown, models.upstream, models.catalog);
}

/**
 * Returns `text`, the JSON of the event. An error that the client did not cause is replaced by a general one,
 * because it may be about the operator's account.
 */
function withoutOperatorErrors(event: JsonObject, text: string): string {
  if (event.type === 'error') {
    const { type, code } = objectOf(event.error);
    const isClientError =
      type === 'invalid_request_error' && !/api_key|quota|billing|account/.test(textOf(code));
    return isClientError ? text : JSON.stringify({ ...event, error: UPSTREAM_ERROR });
  }
  const response = objectOf(event.response);
  if (event.type !== 'response.done' || response.status !== 'failed') return text;
  const details = { type: 'failed', error: { type: UPSTREAM_ERROR.type, code: UPSTREAM_ERROR.code } };
  return JSON.stringify({ ...event, response: { ...response, status_details: details } });
}

const UPSTREAM_ERROR = {
  type: 'server_error',
  code: 'upstream_failed',
  message: 'The upstream could not answer. Try again.',
  param: null,
};

/** A client's event for the upstream, or why it is refused. */
type ClientEvent = { text: string } | { refusal: { message: string; parameter: string | null } };

/**
 * Reads a client's frame, and returns the parsed event as new JSON, so that the upstream cannot read the
 * frame differently. `session.model` is replaced by `upstreamModel`.
 */
export function readClientEvent(frame: string, upstreamModel: string): ClientEvent {
  const event = parseExactObject(frame);
  if (typeof event?.type !== 'string')
    return { refusal: { message: 'Send events as JSON objects with a "type".', parameter: null } };
  for (const holder of ['session', 'response'] as const) {
    const settings = objectOf(event[holder]);
    if (settings.prompt !== undefined && settings.prompt !== null) {
      const parameter = `${holder}.prompt`;
      const message = `${parameter} is a prompt stored at a provider. Send ${holder}.instructions instead.`;
      return { refusal: { message, parameter } };
    }
  }
  const session = objectOf(event.session);
  if (session.model === undefined) return { text: writeJson(event) };
  return { text: writeJson({ ...event, session: { ...session, model: upstreamModel } }) };
}

/** A failure as an `error` event. */
export function errorEvent(error: GatewayError): string {
  return eventOf(objectOf(encodeOpenAiError(error).error));
}

/** The `error` event for a refused event of the client. The session continues. */
export function refusalEvent({ message, parameter }: { message: string; parameter: string | null }): string {
  return eventOf({ type: 'invalid_request_error', code: 'invalid_event', message, param: parameter });
}

function eventOf(error: JsonObject): string {
  const id = `event_${randomBytes(12).toString('hex')}`;
  // The inner event_id would name the client's event, which is not known here.
  return JSON.stringify({ type: 'error', event_id: id, error: { ...error, event_id: null } });
}
