/**
 * OpenAI's and Google's formats of embeddings, around one model: a list of inputs, a list of vectors. Pure.
 */
import { invalidRequest } from '../call/refusals.ts';
import type { TokenCounts } from '@gateway/shared/records';
import { NO_TOKENS } from '../dialects/canonical.ts';
import { parseJson, writeJson } from '../dialects/exact-json.ts';
import {
  Fields,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  storedObjectError,
  textOf,
  fieldError,
} from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { pointerOf } from '../dialects/member-table.ts';
import type { MemberTable, Steps } from '../dialects/member-table.ts';
import { unreadableAnswer } from '../dialects/upstream-errors.ts';
import { replaceMembers } from './json-members.ts';
import { tokensOf } from './relay-answer.ts';
import { RELAY_MEMBERS } from './relay-members.ts';
import type { RequestBody } from './request-body.ts';

const FLOAT_BYTES = 4;

/** A request for embeddings in no particular format. */
export interface EmbeddingRequest {
  model: string;
  /** Texts, or lists of token numbers of OpenAI's tokenizers. */
  inputs: (string | number[])[];
  /** Name of the parameter that holds the inputs, for errors. */
  parameter: string;
  dimensions: number | undefined;
  /** How OpenAI's clients want each vector written. */
  encoding: 'float' | 'base64';
  /** The types in which Cohere's clients want each vector written. */
  types?: string[];
  /** Whether this is a single call of Google's, whose answer holds one vector. */
  single: boolean;
  /** JSON pointers of the members that the other format cannot carry. */
  extras: string[];
}

/** An answer in no particular format. */
interface EmbeddingAnswer {
  vectors: number[][];
  tokens: TokenCounts;
  model: string;
}

/** A request for one upstream. */
interface EncodedEmbeddings {
  /** Below the upstream's base URL. */
  path: string;
  body: Buffer | string;
  /** JSON pointers of what the upstream's format cannot carry. */
  dropped: string[];
}

/** A format in which clients send requests. */
export interface ClientEmbeddings {
  /** The protocol whose upstreams have this format, or get the request first. */
  protocol: 'openai-chat' | 'google-generate';
  /** Throws `invalid_request` naming the parameter. */
  decodeRequest(wire: JsonObject, path?: { model: string; batch: boolean }): EmbeddingRequest;
  /** Which members of a request pass to an upstream of the same format, if there is one. */
  members?: MemberTable;
  encodeResponse(answer: EmbeddingAnswer, request: EmbeddingRequest): JsonObject;
}

/** A format for clients and for upstreams. */
export interface EmbeddingFormat extends ClientEmbeddings {
  /** The client's request for an upstream of the same format, without these members. */
  mirrorRequest(body: RequestBody, model: string, removals: readonly Steps[]): EncodedEmbeddings;
  /** Throws `invalid_request` for inputs that this format cannot carry. */
  encodeRequest(request: EmbeddingRequest, model: string): EncodedEmbeddings;
  /** Throws `upstream_failed` for an unreadable answer. */
  decodeResponse(wire: JsonObject): EmbeddingAnswer;
}

/** OpenAI's format. */
export const OPENAI: EmbeddingFormat = {
  protocol: 'openai-chat',
  members: RELAY_MEMBERS.embeddings,
  decodeRequest: (wire) => {
    const fields = new Fields(wire);
    const model = fields.requiredString('model');
    const encoding = fields.string('encoding_format') ?? 'float';
    if (encoding !== 'float' && encoding !== 'base64') throw fieldError('encoding_format', 'float or base64');
    const request: EmbeddingRequest = {
      model,
      inputs: inputsOf(fields.take('input')),
      parameter: 'input',
      dimensions: fields.integer('dimensions'),
      encoding,
      single: false,
      extras: [],
    };
    request.extras = fields.leftovers().map(({ pointer }) => pointer);
    return request;
  },
  mirrorRequest: ({ bytes, members }, model, removals) => ({
    path: '/embeddings',
    body: replaceMembers(bytes, members, { edits: new Map([['model', JSON.stringify(model)]]), removals }),
    dropped: removals.map(pointerOf),
  }),
  encodeRequest: ({ inputs, dimensions, extras }, model) => ({
    path: '/embeddings',
    body: JSON.stringify({ model, input: inputs, encoding_format: 'float', dimensions }),
    dropped: extras,
  }),
  decodeResponse: (wire) => {
    const items = objectsOf(wire.data);
    // Some providers answer in another order; the index names the input of a vector.
    const ordered = items.toSorted((one, other) => (numberOf(one.index) ?? 0) - (numberOf(other.index) ?? 0));
    return {
      vectors: ordered.map(({ embedding }) => vectorOf(embedding)),
      tokens: tokensOf(wire.usage),
      model: textOf(wire.model),
    };
  },
  encodeResponse: ({ vectors, tokens }, { model, encoding }) => ({
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'base64' ? base64Of(vector) : vector,
    })),
    model,
    usage: { prompt_tokens: tokens.input ?? 0, total_tokens: tokens.input ?? 0 },
  }),
};

/** Google's format. */
export const GOOGLE: EmbeddingFormat = {
  protocol: 'google-generate',
  members: RELAY_MEMBERS.googleEmbeddings,
  decodeRequest: (wire, { model = '', batch = false } = { model: '', batch: false }) => {
    const fields = new Fields(wire);
    fields.ignore('model');
    const calls = batch ? (fields.objectOrObjects('requests') ?? []) : [fields];
    if (calls.length === 0) throw fieldError('/requests', 'a list that is not empty');
    const inputs = calls.map(contentOf);
    const dimensions = calls.map((call) => call.integer('outputDimensionality'));
    if (new Set(dimensions).size > 1) throw fieldError('/requests', 'of the same outputDimensionality');
    const extras = fields.leftovers().map(({ pointer }) => pointer);
    return {
      model,
      inputs,
      parameter: batch ? 'requests' : 'content',
      dimensions: dimensions[0],
      encoding: 'float',
      single: !batch,
      extras,
    };
  },
  mirrorRequest: ({ bytes, members }, model, removals) => {
    const kept = replaceMembers(bytes, members, { edits: new Map(), removals });
    const value = objectOf(parseJson(kept.toString('utf8')));
    const dropped = removals.map(pointerOf);
    const calls = Array.isArray(value.requests) ? objectsOf(value.requests) : undefined;
    const named = (call: JsonObject): JsonObject => ({ ...call, model: `models/${model}` });
    return calls
      ? { ...pathOf(model, true), body: writeJson({ ...value, requests: calls.map(named) }), dropped }
      : { ...pathOf(model, false), body: writeJson(named(value)), dropped };
  },
  encodeRequest: ({ inputs, dimensions, extras }, model) => {
    const requests = inputs.map((input) => {
      if (typeof input !== 'string') {
        const message = 'This model takes texts, not token numbers. Send texts.';
        throw invalidRequest(message, 'input');
      }
      return {
        model: `models/${model}`,
        content: { parts: [{ text: input }] },
        outputDimensionality: dimensions,
      };
    });
    const batch = requests.length > 1;
    return {
      ...pathOf(model, batch),
      body: JSON.stringify(batch ? { requests } : requests[0]),
      dropped: extras,
    };
  },
  decodeResponse: (wire) => {
    const items = isObject(wire.embedding) ? [wire.embedding] : objectsOf(wire.embeddings);
    const input = numberOf(objectOf(wire.usageMetadata).promptTokenCount);
    return {
      vectors: items.map(({ values }) => vectorOf(values)),
      tokens: input === undefined ? NO_TOKENS : { ...NO_TOKENS, input },
      model: '',
    };
  },
  encodeResponse: ({ vectors }, { single }) =>
    single
      ? { embedding: { values: vectors[0] ?? [] } }
      : { embeddings: vectors.map((values) => ({ values })) },
};

function pathOf(model: string, batch: boolean): { path: string } {
  return { path: `/models/${encodeURIComponent(model)}:${batch ? 'batchEmbedContents' : 'embedContent'}` };
}

/** The inputs of OpenAI's format: one text, several texts, the tokens of one text, or of several. */
function inputsOf(input: unknown): EmbeddingRequest['inputs'] {
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input) || input.length === 0)
    throw fieldError('input', 'a text or a list that is not empty');
  if (input.every((item) => typeof item === 'string')) return input;
  if (input.every((item) => typeof item === 'number')) return [input];
  return input.map((item: unknown) => {
    if (!Array.isArray(item) || !item.every((token) => typeof token === 'number'))
      throw fieldError('input', 'all texts or all token numbers');
    return item;
  });
}

/** The text of one call of Google's. Only text is translated; a mirrored request keeps all of its parts. */
function contentOf(call: Fields): string {
  const content = call.object('content');
  if (!content) throw fieldError(call.pointer('content'), 'an object');
  content.ignore('role');
  const parts = content.objectOrObjects('parts') ?? [];
  if (parts.length === 0) throw fieldError(content.pointer('parts'), 'a list that is not empty');
  call.ignore('model');
  for (const part of parts) if (part.has('fileData')) throw storedObjectError(part.pointer('fileData'));
  return parts.map((part) => part.string('text') ?? '').join('\n');
}

/** The numbers of a vector, also from base64 of little-endian 32-bit floats. Throws `upstream_failed`. */
function vectorOf(value: unknown): number[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return value;
  if (typeof value !== 'string') throw unreadableAnswer('an embedding is no list of numbers');
  const bytes = Buffer.from(value, 'base64');
  return Array.from({ length: Math.floor(bytes.length / FLOAT_BYTES) }, (_, at) =>
    bytes.readFloatLE(at * FLOAT_BYTES),
  );
}

/** The vector as little-endian 32-bit floats in base64, for which OpenAI's SDKs ask by default. */
export function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * FLOAT_BYTES);
  vector.forEach((number, at) => bytes.writeFloatLE(number, at * FLOAT_BYTES));
  return bytes.toString('base64');
}
