/** The families that are relayed: where they go, what they may weigh, and what a request wants. Pure. */
import type { Family } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import { isObject, objectsOf, refuseStored, wrong } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import type { AnswerKind } from './relay-answer.ts';

const MEGABYTE = 1024 * 1024;
/** Most bytes of a request that holds only text. */
const TEXT_BYTES = 4 * MEGABYTE;

/** How many of something are asked for, and by which parameter. */
export interface Amount {
  count: number;
  parameter: string;
}

/** What of a request decides about its price and its answer. */
export interface Wants {
  /** The catalog name that the client sent. */
  model: string;
  streamed: boolean;
  inputs?: Amount;
  choices?: Amount;
}

/** A file of a form; `name` is that of its field. */
export interface FileField {
  name: string;
}

export interface RelayKind {
  family: Family;
  /** Ours below `/v1`, and the upstream's below its base URL. */
  path: string;
  /** Largest body, in bytes. */
  bodyBytes: number;
  body: 'json' | 'form' | 'json-or-form';
  answer: AnswerKind;
  /** Types of the events that end a streamed answer. */
  ends: readonly string[];
  /**
   * Reads what a request wants; the fields of a form come as strings. Throws `invalid_request` naming the
   * parameter that is missing or wrong.
   */
  wants(fields: JsonObject, files: readonly FileField[]): Wants;
}

const JSON_WHOLE = { body: 'json', answer: 'json', ends: [] } as const;

/** https://docs.cohere.com/reference/rerank and https://jina.ai/reranker use the same names. */
export const RERANK: RelayKind = {
  ...JSON_WHOLE,
  family: 'rerank',
  path: '/rerank',
  bodyBytes: TEXT_BYTES,
  wants: (fields) => {
    text(fields, 'query');
    return { model: modelOf(fields), streamed: false, inputs: list(fields, 'documents') };
  },
};

/** https://platform.openai.com/docs/api-reference/moderations */
export const MODERATIONS: RelayKind = {
  ...JSON_WHOLE,
  family: 'moderations',
  path: '/moderations',
  bodyBytes: 32 * MEGABYTE,
  wants: (fields) => {
    const inputs = typeof fields.input === 'string' ? one('input') : list(fields, 'input');
    return { model: modelOf(fields), streamed: false, inputs };
  },
};

/** https://platform.openai.com/docs/api-reference/images/create */
export const IMAGE_GENERATIONS: RelayKind = {
  ...JSON_WHOLE,
  family: 'images',
  path: '/images/generations',
  bodyBytes: TEXT_BYTES,
  ends: ['image_generation.completed'],
  wants: (fields) => {
    text(fields, 'prompt');
    return { model: modelOf(fields), streamed: streamOf(fields), choices: choicesOf(fields) };
  },
};

/** https://platform.openai.com/docs/api-reference/images/createEdit */
export const IMAGE_EDITS: RelayKind = {
  family: 'images',
  path: '/images/edits',
  bodyBytes: 50 * MEGABYTE,
  body: 'json-or-form',
  answer: 'json',
  ends: ['image_edit.completed'],
  wants: (fields, files) => {
    text(fields, 'prompt');
    const images = objectsOf(fields.images);
    for (const image of [...images, ...objectsOf([fields.mask])])
      if (image.file_id !== undefined) throw refuseStored('file_id');
    const count = files.filter(({ name }) => /^image(?:\[\d*\])?$/.test(name)).length + images.length;
    if (count === 0) throw missing('image', 'a picture');
    return {
      model: modelOf(fields),
      streamed: streamOf(fields),
      inputs: { count, parameter: 'image' },
      choices: choicesOf(fields),
    };
  },
};

/** https://platform.openai.com/docs/api-reference/audio/createSpeech */
export const SPEECH: RelayKind = {
  family: 'audio',
  path: '/audio/speech',
  bodyBytes: TEXT_BYTES,
  body: 'json',
  answer: 'audio',
  ends: ['speech.audio.done'],
  wants: (fields) => {
    text(fields, 'input');
    // A voice with an id is stored in the account that all customers share.
    if (isObject(fields.voice)) throw refuseStored('voice');
    return { model: modelOf(fields), streamed: fields.stream_format === 'sse' };
  },
};

/** https://platform.openai.com/docs/api-reference/audio/createTranscription */
export const TRANSCRIPTIONS: RelayKind = recording('/audio/transcriptions');
/** https://platform.openai.com/docs/api-reference/audio/createTranslation */
export const TRANSLATIONS: RelayKind = recording('/audio/translations');

function recording(path: string): RelayKind {
  return {
    family: 'audio',
    path,
    bodyBytes: 25 * MEGABYTE,
    body: 'form',
    answer: 'json-or-text',
    ends: ['transcript.text.done'],
    wants: (fields, files) => {
      const count = files.filter(({ name }) => name === 'file').length;
      if (count === 0) throw missing('file', 'a recording');
      if (count > 1) throw new GatewayError('invalid_request', 'Send one file.', { parameter: 'file' });
      return { model: modelOf(fields), streamed: streamOf(fields) };
    },
  };
}

/** The catalog name. Throws `invalid_request` where there is none. */
export function modelOf(fields: JsonObject): string {
  const { model } = fields;
  if (typeof model !== 'string' || model === '') throw missing('model', 'the name of a model');
  return model;
}

/** A list that is not empty. Throws `invalid_request`. */
export function list(fields: JsonObject, parameter: string): Amount {
  const value = fields[parameter];
  if (!Array.isArray(value) || value.length === 0) throw wrong(parameter, 'a list that is not empty');
  return { count: value.length, parameter };
}

/** A single input. */
export function one(parameter: string): Amount {
  return { count: 1, parameter };
}

function text(fields: JsonObject, parameter: string): void {
  const value = fields[parameter];
  if (typeof value !== 'string' || value === '') throw wrong(parameter, 'a text that is not empty');
}

/** In a form every value is a string. */
function streamOf({ stream }: JsonObject): boolean {
  if (stream === undefined || stream === null || stream === false || stream === 'false') return false;
  if (stream === true || stream === 'true' || stream === 'True') return true;
  throw wrong('stream', 'true or false');
}

function choicesOf({ n }: JsonObject): Amount {
  const count = n === undefined || n === null ? 1 : Number(n);
  if (!Number.isInteger(count) || count < 1) throw wrong('n', 'a whole number from 1 on');
  return { count, parameter: 'n' };
}

function missing(parameter: string, what: string): GatewayError {
  return new GatewayError('invalid_request', `Send ${what} as "${parameter}".`, { parameter });
}
