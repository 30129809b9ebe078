/** What the events of a realtime session mean for money, and what of them may pass. Pure. */
import { randomBytes } from 'node:crypto';
import type { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import { objectOf, objectsOf, parseObject, textOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { encodeOpenAiError } from '../dialects/openai-errors.ts';
import { tokensOf } from './relay-answer.ts';

/** How a response ended; `cancelled`: by the customer, who spoke into it or stopped it. */
export type ResponseEnd = 'delivered' | 'cancelled' | 'failed';

/** What one event of the upstream is about. */
export type ServerEvent =
  | { kind: 'response-created'; id: string }
  | { kind: 'response-content'; id: string }
  | { kind: 'response-done'; id: string; end: ResponseEnd; tokens: TokenCounts }
  | { kind: 'transcribed'; tokens: TokenCounts }
  | { kind: 'session'; transcriptionOnly: boolean }
  | { kind: 'dropped' }
  | { kind: 'other' };

/** Where events hold text, audio or arguments. */
const CARRIERS = ['delta', 'text', 'transcript', 'audio', 'arguments'];
const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';

/** Undefined for what is no event. https://platform.openai.com/docs/api-reference/realtime-server-events */
export function readServerEvent(event: JsonObject | undefined): ServerEvent | undefined {
  const type = textOf(event?.type);
  if (!event || !type) return undefined;
  if (type === TRANSCRIBED) return { kind: 'transcribed', tokens: tokensOf(event.usage) };
  // These speak of the operator's account.
  if (type === 'rate_limits.updated') return { kind: 'dropped' };
  if (/^(transcription_)?session\.(created|updated)$/.test(type)) {
    const { type: kind, object } = objectOf(event.session);
    return { kind: 'session', transcriptionOnly: /transcription/.test(`${textOf(kind)} ${textOf(object)}`) };
  }
  const response = objectOf(event.response);
  const id = textOf(event.response_id) || textOf(response.id);
  if (type === 'response.created') return { kind: 'response-created', id };
  if (type === 'response.done') {
    return { kind: 'response-done', id, end: endOf(response.status), tokens: tokensOf(response.usage) };
  }
  const isContent = type.startsWith('response.') && id && carriesSomething(event);
  return isContent ? { kind: 'response-content', id } : { kind: 'other' };
}

/** Whether the model said any of it; items and parts are announced while they are still empty. */
function carriesSomething(event: JsonObject): boolean {
  const item = objectOf(event.item);
  const holders = [event, objectOf(event.part), item, ...objectsOf(item.content)];
  return holders.some((holder) => CARRIERS.some((name) => textOf(holder[name]) !== ''));
}

function endOf(status: unknown): ResponseEnd {
  if (status === 'failed') return 'failed';
  return status === 'cancelled' ? 'cancelled' : 'delivered';
}

/** The event as the client may see it: what upstreams say about the operator's account stays here. */
export function cleaned(event: JsonObject, text: string): string {
  if (event.type === 'error') {
    const { type, code } = objectOf(event.error);
    const isClients = type === 'invalid_request_error' && !/api_key|quota|billing|account/.test(textOf(code));
    return isClients ? text : JSON.stringify({ ...event, error: UPSTREAM_ERROR });
  }
  const response = objectOf(event.response);
  if (event.type !== 'response.done' || response.status !== 'failed') return text;
  const details = { type: 'failed', error: { type: UPSTREAM_ERROR.type, code: UPSTREAM_ERROR.code } };
  return JSON.stringify({ ...event, response: { ...response, status_details: details } });
}

const UPSTREAM_ERROR = {
  type: 'server_error',
  code: 'upstream_failed',
  message: 'The model could not answer. Try again.',
  param: null,
};

/** An event of the client as it is sent on, or what is wrong with it. */
export type ClientEvent = { text: string } | { refusal: { message: string; parameter: string | null } };

/**
 * Reads a frame of the client and writes it anew, so that what was checked is what is sent; the model is
 * that of the session, whatever the client calls it.
 */
export function readClientEvent(frame: string, upstreamModel: string): ClientEvent {
  const event = parseObject(frame);
  if (typeof event?.type !== 'string')
    return { refusal: { message: 'Send events as JSON objects with a "type".', parameter: null } };
  for (const holder of ['session', 'response'] as const) {
    const settings = objectOf(event[holder]);
    if (settings.prompt !== undefined && settings.prompt !== null) {
      const parameter = `${holder}.prompt`;
      const message = `${parameter} names something that is stored at a provider. Send instructions instead.`;
      return { refusal: { message, parameter } };
    }
  }
  const session = objectOf(event.session);
  if (session.model === undefined) return { text: JSON.stringify(event) };
  return { text: JSON.stringify({ ...event, session: { ...session, model: upstreamModel } }) };
}

/** A failure as an event of this format. */
export function errorEvent(error: GatewayError): string {
  return eventOf(objectOf(encodeOpenAiError(error).error));
}

/** A refused event of the client, as the format says it: the session goes on. */
export function refusalEvent({ message, parameter }: { message: string; parameter: string | null }): string {
  return eventOf({ type: 'invalid_request_error', code: 'invalid_event', message, param: parameter });
}

function eventOf(error: JsonObject): string {
  const id = `event_${randomBytes(12).toString('hex')}`;
  return JSON.stringify({ type: 'error', event_id: id, error: { ...error, event_id: null } });
}
