/** The generative language dialect: both spellings, matching of tool results, signatures, and candidates. */
import { GatewayError } from '@gateway/shared/failures';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collect, replay } from '../answer.ts';
import type { Block, ChatEvent, ChatRequest, ChatResponse, Part } from '../canonical.ts';
import { objectOf, objectsOf, parseObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { SseParser } from '../../../test/sse-parser.ts';
import { googleGenerate } from './index.ts';
import { fitsOpenApi, toJsonSchema } from './schema.ts';

const { inbound, outbound } = googleGenerate;
const ASK = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

function decode(wire: JsonObject, query = 'alt=sse'): ChatRequest {
  return inbound.decodeRequest(wire, { model: 'm', stream: true, query: new URLSearchParams(query) });
}

/** Decodes a request and encodes it for an upstream of the same format. */
function roundTrip(wire: JsonObject, model = 'up'): JsonObject {
  return outbound.encodeRequest(decode(wire), model).body;
}

function events(chunks: JsonObject[], choices = 1): ChatEvent[] {
  const decoder = outbound.streamDecoder(choices);
  const frames = chunks.map((chunk) => ({ data: JSON.stringify(chunk) }));
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

function chunk(parts: JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts }, ...more }],
    responseId: 'r1',
    modelVersion: 'up',
  };
}

function answer(...blocks: Block[]): ChatResponse {
  const tokens = { input: 10, output: 5, cached: 4, reasoning: 2 };
  return { id: 'r1', model: 'up', tokens, choices: [{ blocks, finish: 'stop' }] };
}

function written(response: ChatResponse, request: ChatRequest): string {
  const encoder = inbound.streamEncoder(request);
  return [...replay(response)].map((event) => encoder.push(event)).join('');
}

const partsOf = (request: ChatRequest): Part[] => request.messages.flatMap(({ parts }) => parts);

describe('requests', () => {
  it('mean the same in camel case and snake case', () => {
    const camel = {
      ...ASK,
      systemInstruction: { parts: [{ text: 'Be kind.' }] },
      generationConfig: { maxOutputTokens: 9, topK: 3, thinkingConfig: { thinkingBudget: 512 } },
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] }],
    };
    const snake = {
      ...ASK,
      system_instruction: { parts: [{ text: 'Be kind.' }] },
      generation_config: { max_output_tokens: 9, top_k: 3, thinking_config: { thinking_budget: 512 } },
      tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['f'] } },
      tools: [{ function_declarations: [{ name: 'f', parameters_json_schema: { type: 'object' } }] }],
    };
    expect(roundTrip(snake)).toEqual(roundTrip(camel));
    expect(decode(snake).pointers.maxOutputTokens).toBe('/generation_config/max_output_tokens');
    expect(decode(camel)).toMatchObject({
      toolChoice: { name: 'f' },
      reasoning: { budget: 512 },
      extras: [],
    });
  });

  it('match tool results without an id to their calls by name and order', () => {
    const call = (n: number): JsonObject => ({ functionCall: { name: 'f', args: { n } } });
    const result = (n: number): JsonObject => ({
      functionResponse: { name: 'f', response: { result: `r${n}` } },
    });
    const request = decode({
      contents: [
        ...ASK.contents,
        { role: 'model', parts: [call(1), call(2)] },
        { role: 'user', parts: [result(1), result(2)] },
      ],
    });
    const ids = (kind: string): unknown[] =>
      partsOf(request).flatMap((part) => (part.kind === kind && 'id' in part ? [part.id] : []));
    expect(ids('tool-result')).toEqual(ids('tool-call'));
    expect(new Set(ids('tool-call')).size).toBe(2);
  });

  it('keep a thought signature on its part', () => {
    const parts = [
      { text: 'thinking', thought: true, thoughtSignature: 's1' },
      { functionCall: { id: 'c1', name: 'f', args: { a: 1 } }, thoughtSignature: 's2' },
      { text: 'after', thoughtSignature: 's3' },
    ];
    const body = roundTrip({ contents: [...ASK.contents, { role: 'model', parts }] });
    expect(objectsOf(body.contents)[1]?.parts).toEqual(parts);
  });

  it('get a placeholder signature on tool calls of other providers, for models that require one', () => {
    const contents = [
      ...ASK.contents,
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: {} } }] },
    ];
    const signatureFor = (model: string): unknown =>
      objectsOf(objectsOf(roundTrip({ contents }, model).contents)[1]?.parts)[0]?.thoughtSignature;
    expect(signatureFor('gemini-3-pro')).toBe('skip_thought_signature_validator');
    expect(signatureFor('gemini-2.5-pro')).toBeUndefined();
  });

  it.each([
    ['/cachedContent', { cachedContent: 'cachedContents/1' }],
    [
      '/contents/0/parts/0/fileData/fileUri',
      { contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/file', mimeType: 'image/png' } }] }] },
    ],
  ])('are refused for %s, which refers to a stored object', (parameter, wire) => {
    const error = (() => {
      try {
        return decode({ ...ASK, ...wire });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ code: 'invalid_request', details: { parameter } });
  });

  it('keep safety settings as an extra, which only upstreams of this format get', () => {
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
    expect(roundTrip({ ...ASK, safetySettings }).safetySettings).toEqual(safetySettings);
    expect(decode({ ...ASK, safetySettings }).extras).toMatchObject([{ pointer: '/safetySettings' }]);
  });
});

describe('schemas', () => {
  it('become JSON Schemas with types in lower case, nullable as a type, and numeric counts, in order', () => {
    const schema = {
      type: 'OBJECT',
      properties: {
        b: { type: 'STRING', nullable: true, max_length: '5' },
        a: { type: 'ARRAY', items: { type: 'INTEGER' } },
      },
      propertyOrdering: ['a', 'b'],
    };
    const converted = toJsonSchema(schema);
    expect(converted).toEqual({
      type: 'object',
      properties: {
        a: { type: 'array', items: { type: 'integer' } },
        b: { type: ['string', 'null'], maxLength: 5 },
      },
    });
    expect(Object.keys(objectOf(objectOf(converted).properties))).toEqual(['a', 'b']);
  });

  it('are unchanged by the conversion if they fit the OpenAPI subset', () => {
    const leaf = fc.record({ type: fc.constantFrom('string', 'number', 'boolean', 'integer') });
    const object = fc
      .dictionary(fc.stringMatching(/^[a-z]{1,8}$/), leaf, { minKeys: 1 })
      .map((properties) => ({ type: 'object', properties, required: Object.keys(properties) }));
    fc.assert(
      fc.property(object, (schema) => {
        expect(fitsOpenApi(schema)).toBe(true);
        expect(toJsonSchema(schema)).toEqual(schema);
      }),
    );
  });

  it('do not fit the OpenAPI subset if it lacks one of their keywords', () => {
    for (const schema of [{ type: ['string', 'null'] }, { $ref: '#/a' }, { type: 'object' }, { enum: [1] }]) {
      expect(fitsOpenApi(schema)).toBe(false);
    }
  });
});

describe('answers of upstreams', () => {
  it('finish for tool calls after STOP, and get unique ids for tool calls without one', () => {
    const call = { functionCall: { name: 'f', args: { a: 1 } } };
    const [choice] = collect(events([chunk([call, call], { finishReason: 'STOP' })])).choices;
    expect(choice?.finish).toBe('tool');
    expect(new Set(choice?.blocks.map((block) => ('id' in block ? block.id : ''))).size).toBe(2);
  });

  it('have their tool call arguments assembled from pieces', () => {
    const piece = (more: JsonObject): JsonObject => chunk([{ functionCall: more }]);
    const list = events([
      piece({ name: 'f', willContinue: true }),
      piece({
        partialArgs: [{ jsonPath: '$.city', stringValue: 'Ber', willContinue: true }],
        willContinue: true,
      }),
      piece({ partialArgs: [{ jsonPath: '$.city', stringValue: 'lin' }], willContinue: true }),
      chunk([{ functionCall: {} }], { finishReason: 'STOP' }),
    ]);
    expect(collect(list).choices[0]?.blocks).toMatchObject([{ name: 'f', text: '{"city":"Berlin"}' }]);
  });

  it('report a signature at the start of its tool call', () => {
    const call = { functionCall: { name: 'f', args: {} }, thoughtSignature: 's' };
    const starts = events([chunk([{ text: 'a' }, call], { finishReason: 'STOP' })]).filter(
      ({ type }) => type === 'block-start',
    );
    expect(starts).toMatchObject([
      { block: { kind: 'text' } },
      { block: { kind: 'tool-call' }, seal: { dialect: 'google-generate', value: 's' } },
    ]);
  });

  it('may interleave chunks of several candidates', () => {
    const of = (index: number, text: string, more: JsonObject = {}): JsonObject =>
      chunk([{ text }], { index, ...more });
    const list = events(
      [
        of(0, 'a'),
        of(1, 'x'),
        of(0, 'b', { finishReason: 'STOP' }),
        of(1, 'y', { finishReason: 'MAX_TOKENS' }),
      ],
      2,
    );
    expect(collect(list).choices).toMatchObject([
      { finish: 'stop', blocks: [{ text: 'ab' }] },
      { finish: 'length', blocks: [{ text: 'xy' }] },
    ]);
  });

  it('finish by a filter if the prompt was blocked', () => {
    const list = events([
      { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3 } },
    ]);
    expect(list.map(({ type }) => type)).toEqual(['start', 'usage', 'finish', 'done']);
    expect(list[2]).toMatchObject({ reason: 'filter' });
  });

  it('count prompts of server-side tools as input and thoughts as output', () => {
    const usageMetadata = {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 4,
      cachedContentTokenCount: 2,
    };
    const wire = { ...chunk([{ text: 'a' }], { finishReason: 'STOP' }), usageMetadata };
    expect(outbound.decodeResponse(wire).tokens).toEqual({ input: 15, output: 7, cached: 2, reasoning: 4 });
    expect(outbound.decodeResponse([wire]).tokens.input).toBe(15);
  });

  it('fail without a finish, and at an error in the stream', () => {
    expect(events([chunk([{ text: 'a' }])]).at(-1)).toMatchObject({ type: 'error' });
    const error = { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } };
    expect(events([chunk([{ text: 'a' }]), error]).at(-1)).toMatchObject({
      error: { code: 'upstream_busy' },
    });
  });
});

describe('answers to clients', () => {
  const call: Block = { kind: 'tool-call', id: 'c1', name: 'f', text: '{"a":1}' };

  it('stream without an end marker, with finish and counts in the last chunk', () => {
    const frames = new SseParser().push(
      Buffer.from(written(answer({ kind: 'text', text: 'a' }, call), decode(ASK))),
    );
    const chunks = frames.map(({ data }) => parseObject(data) ?? {});
    expect(frames.some(({ data }) => data === '[DONE]')).toBe(false);
    expect(
      chunks.filter(({ candidates }) =>
        objectsOf(candidates).some((candidate) => 'finishReason' in candidate),
      ),
    ).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 3,
        thoughtsTokenCount: 2,
        totalTokenCount: 15,
      },
    });
  });

  it('stream the same chunks as one JSON array without alt=sse', () => {
    const response = answer({ kind: 'text', text: 'a' }, call);
    const array: unknown = JSON.parse(written(response, decode(ASK, '')));
    const frames = new SseParser().push(Buffer.from(written(response, decode(ASK))));
    expect(array).toEqual(frames.map(({ data }) => parseObject(data)));
  });

  it('encode an error as code, message and status', () => {
    expect(inbound.encodeError(new GatewayError('invalid_key', 'No such key.'))).toEqual({
      error: { code: 401, message: 'No such key.', status: 'UNAUTHENTICATED' },
    });
  });

  it('start an error in a stream with a bare JSON chunk, for SDKs that ignore error events', () => {
    const [first = ''] = inbound.encodeStreamError(new GatewayError('internal', 'It broke.')).split('\r\n');
    expect(parseObject(first)).toMatchObject({ error: { code: 500, message: 'It broke.' } });
  });
});
