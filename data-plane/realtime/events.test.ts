/** Tests the changes in the events of a realtime session. */
import { describe, expect, it } from 'vitest';
import { parseObject } from '../dialects/fields.ts';
import { forwardedEvent, readClientEvent } from './events.ts';

const MODELS = { upstream: 'vendor-1', catalog: 'swift' };
const forwarded = (text: string): string => forwardedEvent(parseObject(text) ?? {}, text, MODELS);

describe('an event of the upstream', () => {
  it('names the model as the catalog does, and keeps every other byte', () => {
    const created = '{"type":"session.created", "session":{"model":"vendor-1","voice":"a", "x":1.0}}';
    expect(forwarded(created)).toBe(created.replace('vendor-1', 'swift'));
    const error =
      '{"type":"error","error":{"type":"invalid_request_error","message":"vendor-1 cannot sing."}}';
    expect(forwarded(error)).toBe(error.replace('vendor-1', 'swift'));
  });

  it('keeps what the model says', () => {
    const delta = '{"type":"response.output_text.delta","response_id":"r","delta":"vendor-1"}';
    expect(forwarded(delta)).toBe(delta);
  });
});

describe('an event of the client', () => {
  it('keeps every digit, and names the model as the upstream does', () => {
    const tools = '[{"type":"function","name":"f","parameters":{"maximum":1234567890123456789012}}]';
    const frame = `{"type":"session.update","session":{"model":"swift","tools":${tools}}}`;
    const text = frame.replace('swift', 'vendor-1');
    expect(readClientEvent(frame, MODELS.upstream)).toEqual({ text });
  });

  it.each([
    [
      '{"type":"session.update","0":1,"session":{"prompt":{"id":"p"},"model":"other"},"session":{}}',
      { 0: 1, type: 'session.update', session: {} },
    ],
    [
      '{"type":"session.update","session":{"0":1,"prompt":{"id":"p"},"prompt":null}}',
      { type: 'session.update', session: { 0: 1, prompt: null } },
    ],
    [
      '{"type":"response.create","0":1,"response":{"prompt":{"id":"p"},"prompt":null}}',
      { 0: 1, type: 'response.create', response: { prompt: null } },
    ],
  ])('is sent without a member that another one of the same name follows: %s', (frame, sent) => {
    expect(readClientEvent(frame, MODELS.upstream)).toEqual({ text: JSON.stringify(sent) });
  });

  it('keeps the order of names that look like indexes', () => {
    const frame = '{"type":"session.update","session":{"tools":[{"10":1,"2":1}]}}';
    expect(readClientEvent(frame, MODELS.upstream)).toEqual({ text: frame });
  });
});
