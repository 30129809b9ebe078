import { describe, expect, it } from 'vitest';
import { StreamNames, named, newAnswerId, withNames } from './answer-names.ts';

describe('the id of an answer', () => {
  it('has the prefix of its format and is unique', () => {
    const ids = Array.from({ length: 1_000 }, () => newAnswerId('msg_'));
    expect(new Set(ids).size).toBe(1_000);
    expect(ids[0]).toMatch(/^msg_[0-9a-f]{32}$/);
  });

  it('replaces the upstream’s id and model at the start of a stream', () => {
    const names = { id: 'msg_1', model: 'swift' };
    expect(named({ type: 'start', id: 'x', model: 'vendor' }, names)).toEqual({ type: 'start', ...names });
    expect(named({ type: 'done' }, names)).toEqual({ type: 'done' });
  });
});

describe('a mirrored whole answer', () => {
  const whole = (text: string, dialect?: Parameters<typeof withNames>[2]): string => {
    const body = withNames({ bytes: Buffer.from(text) }, { id: 'own', model: 'swift' }, dialect);
    return (Buffer.isBuffer(body) ? body : body.bytes()).toString();
  };

  it('gets the name of the catalog, and keeps every other byte', () => {
    expect(whole('{ "a" : 1.0, "model" : "vendor",\n"b": {"model":"vendor"} }')).toBe(
      '{ "a" : 1.0, "model" : "swift",\n"b": {"model":"vendor"} }',
    );
    expect(whole('{"modelVersion":"vendor"}', 'google-generate')).toBe('{"modelVersion":"swift"}');
  });

  it('gets an id of the gateway, and keeps the ids of its parts', () => {
    const calls = '"choices":[{"message":{"tool_calls":[{"id":"call_1"}]}}]';
    expect(whole(`{"id":"chatcmpl-0",${calls}}`)).toBe(`{"id":"own",${calls}}`);
    expect(whole('{"responseId":"x"}', 'google-generate')).toBe('{"responseId":"own"}');
  });

  it('stays as it is if it names no model', () => {
    expect(whole('{"results":[]}')).toBe('{"results":[]}');
    expect(whole('[]')).toBe('[]');
  });

  it('gets the name even if its JSON is nested too deeply for the scanner of requests', () => {
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    expect(whole(`{"model":"vendor","a":[1.0,${deep}]}`)).toBe(`{"model":"swift","a":[1.0,${deep}]}`);
  });
});

describe('the events of a mirrored stream', () => {
  const start = { type: 'start' as const, id: 'x', model: 'vendor' };

  it('get the name of the catalog, with any white space', () => {
    const names = new StreamNames('openai-chat', { id: 'own', model: 'swift' });
    const replace = (text: string, events: Parameters<typeof names.replace>[1] = []): string =>
      names.replace(Buffer.from(text), events).toString();
    expect(replace('data: {"id":"x","model":"vendor"}\n\n', [start])).toBe(
      'data: {"id":"own","model":"swift"}\n\n',
    );
    expect(replace('data: {"model" : "vendor"}\n\n')).toBe('data: {"model" : "swift"}\n\n');
  });

  it('keep the name in texts and in other members', () => {
    const names = new StreamNames('openai-chat', { id: 'own', model: 'swift' });
    names.replace(Buffer.from('{}'), [start]);
    for (const text of ['{"content":"vendor"}', '{"content":"{\\"model\\":\\"vendor\\"}"}', '["vendor"]'])
      expect(names.replace(Buffer.from(text), []).toString()).toBe(text);
    expect(names.replace(Buffer.from('{"content":"vendor","model":"vendor"}'), []).toString()).toBe(
      '{"content":"vendor","model":"swift"}',
    );
  });

  it('have one id in all events of an answer', () => {
    const names = new StreamNames('openai-responses', { id: 'resp_own', model: 'swift' });
    const created = '{"type":"response.created","response":{"id":"resp_1","model":"vendor"}}';
    names.replace(Buffer.from(created), [{ type: 'start', id: 'resp_1', model: 'vendor' }]);
    const last = '{"response":{"output":[{"id":"msg_1"}],"id":"resp_1","model":"vendor"}}';
    expect(names.replace(Buffer.from(last), []).toString()).toBe(
      '{"response":{"output":[{"id":"msg_1"}],"id":"resp_own","model":"swift"}}',
    );
  });

  it('are not copied if the upstream calls the model like the catalog', () => {
    const bytes = Buffer.from('{"model":"vendor"}');
    expect(new StreamNames('openai-chat', { id: 'x', model: 'vendor' }).replace(bytes, [start])).toBe(bytes);
  });
});
