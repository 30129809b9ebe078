/** WebSocket events of a realtime session: nothing throws, and only checked events are passed on. */
import { isDeepStrictEqual } from 'node:util';
import { isObject, objectOf, parseObject } from '../../../data-plane/dialects/fields.ts';
import { readClientEvent, readServerEvent, refusalEvent } from '../../../data-plane/realtime/events.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

const MODEL = 'upstream-model';

export const target: FuzzTarget = {
  run(input) {
    const frame = input.toString('utf8');
    checkClient(frame);
    checkServer(frame);
  },
  seeds: [
    '{"type":"session.update","session":{"model":"m","instructions":"i","audio":{"output":{"voice":"v"}}}}',
    '{"type":"response.create","response":{"prompt":{"id":"p"}}}',
    '{"type":"session.created","session":{"type":"transcription","object":"realtime.session","model":"m"}}',
    '{"type":"response.created","response":{"id":"r"}}',
    '{"type":"response.output_text.delta","response_id":"r","delta":"a"}',
    '{"type":"response.done","response":{"id":"r","status":"failed","usage":{"input_tokens":1}}}',
    '{"type":"conversation.item.input_audio_transcription.completed","usage":{"input_tokens":1}}',
    '{"type":"error","error":{"type":"invalid_request_error","code":"quota","message":"m"}}',
  ],
  tokens: ['"session":', '"response":', '"model":', '"prompt":', '"tools":', '__proto__'],
};

function checkClient(frame: string): void {
  const event = parseObject(frame);
  const read = readClientEvent(frame, MODEL);
  if ('refusal' in read) {
    demand(parseObject(refusalEvent(read.refusal)) !== undefined, 'a refusal is no JSON object');
    return;
  }
  const sent = parseObject(read.text);
  demand(sent !== undefined && typeof sent.type === 'string', 'an event without a type is sent');
  const session = objectOf(sent.session);
  demand([undefined, MODEL].includes(session.model as string), 'another model is asked for');
  for (const holder of [session, objectOf(sent.response)])
    demand(holder.prompt === undefined || holder.prompt === null, 'a stored prompt is sent');
  demand(isObject(event) && isDeepStrictEqual(event.type, sent.type), 'an event gets another type');
}

function checkServer(frame: string): void {
  const event = parseObject(frame);
  const read = readServerEvent(event);
  const hasType = typeof event?.type === 'string' && event.type !== '';
  demand((read !== undefined) === hasType, 'an event of the upstream is not read');
}
