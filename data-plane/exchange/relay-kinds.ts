/** The relayed endpoints: path, size limits, kind of answer, and how their requests are read. Pure. */
import type { Family } from '@gateway/shared/catalog';
import type { GatewayError } from '@gateway/shared/failures';
import { invalidRequest } from '../call/refusals.ts';
import { objectsOf, fieldError } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import type { MemberTable } from '../dialects/member-table.ts';
import type { AnswerKind } from './relay-answer.ts';
import { RELAY_MEMBERS } from './relay-members.ts';

const MEGABYTE = 1024 * 1024;
/** Maximum size of a request that holds only text, in bytes. */
const TEXT_BYTES = 4 * MEGABYTE;

/** A number of inputs or choices, and the parameter that holds it. */
interface Amount {
  count: number;
  parameter: string;
}

/** The parts of a request that decide about its price and its answer. */
export interface RelayRequest {
  /** The catalog name that the client sent. */
  model: string;
  streamed: boolean;
  inputs?: Amount;
  choices?: Amount;
}

/** A file of a form. */
interface FileField {
  /** Name of the form field. */
  name: string;
}

/** One relayed endpoint. */
export interface RelayKind {
  family: Family;
  /** Below the gateway's `/v1`, and below the upstream's base URL. */
  path: string;
  /** Maximum size of the body, in bytes. */
  bodyBytes: number;
  body: 'json' | 'form' | 'json-or-form';
  answer: AnswerKind;
  /** Types of the events that end a streamed answer. */
  endEvents: readonly string[];
  /** Which members of a request pass. */
  members: MemberTable;
  /**
   * Reads a request; the fields of a form are strings. Throws `invalid_request` naming the parameter that is
   * missing or wrong.
   */
  read(fields: JsonObject, files: readonly FileField[]): RelayRequest;
}

const JSON_WHOLE = { body: 'json', answer: 'json', endEvents: [] } as const;

/** https://docs.cohere.com/reference/rerank and https://jina.ai/reranker use the same names. */
export const RERANK: RelayKind = {
  ...JSON_WHOLE,
  family: 'rerank',
  members: RELAY_MEMBERS.rerank,
  path: '/rerank',
  bodyBytes: TEXT_BYTES,
  read: (fields) => {
    requireText(fields, 'query');
    return { model: modelOf(fields), streamed: false, inputs: list(fields, 'documents') };
  },
};

/** https://platform.openai.com/docs/api-reference/moderations */
export const MODERATIONS: RelayKind = {
  ...JSON_WHOLE,
  family: 'moderations',
  members: RELAY_MEMBERS.moderations,
  path: '/moderations',
  bodyBytes: 32 * MEGABYTE,
  read: (fields) => {
    const inputs = typeof fields.input === 'string' ? one('input') : list(fields, 'input');
    return { model: modelOf(fields), streamed: false, inputs };
  },
};

/** https://platform.openai.com/docs/api-reference/images/create */
export const IMAGE_GENERATIONS: RelayKind = {
  ...JSON_WHOLE,
  family: 'images',
  members: RELAY_MEMBERS.images,
  path: '/images/generations',
  bodyBytes: TEXT_BYTES,
  endEvents: ['image_generation.completed'],
  read: (fields) => {
    requireText(fields, 'prompt');
    return { model: modelOf(fields), streamed: streamOf(fields), choices: choicesOf(fields) };
  },
};

/** https://platform.openai.com/docs/api-reference/images/createEdit */
export const IMAGE_EDITS: RelayKind = {
  family: 'images',
  members: RELAY_MEMBERS.imageEdits,
  path: '/images/edits',
  bodyBytes: 50 * MEGABYTE,
  body: 'json-or-form',
  answer: 'json',
  endEvents: ['image_edit.completed'],
  read: (fields, files) => {
    requireText(fields, 'prompt');
    const count =
      files.filter(({ name }) => /^image(?:\[\d*\])?$/.test(name)).length + objectsOf(fields.images).length;
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
  members: RELAY_MEMBERS.speech,
  path: '/audio/speech',
  bodyBytes: TEXT_BYTES,
  body: 'json',
  answer: 'audio',
  endEvents: ['speech.audio.done'],
  read: (fields) => {
    requireText(fields, 'input');
    return { model: modelOf(fields), streamed: fields.stream_format === 'sse' };
  },
};

/** https://platform.openai.com/docs/api-reference/audio/createTranscription */
export const TRANSCRIPTIONS: RelayKind = recording('/audio/transcriptions', RELAY_MEMBERS.transcriptions);
/** https://platform.openai.com/docs/api-reference/audio/createTranslation */
export const TRANSLATIONS: RelayKind = recording('/audio/translations', RELAY_MEMBERS.translations);

function recording(path: string, members: MemberTable): RelayKind {
  return {
    family: 'audio',
    members,
    path,
    bodyBytes: 25 * MEGABYTE,
    body: 'form',
    answer: 'json-or-text',
    endEvents: ['transcript.text.done'],
    read: (fields, files) => {
      const count = files.filter(({ name }) => name === 'file').length;
      if (count === 0) throw missing('file', 'a recording');
      if (count > 1) throw invalidRequest('Send one file per request.', 'file');
      return { model: modelOf(fields), streamed: streamOf(fields) };
    },
  };
}

function modelOf(fields: JsonObject): string {
  const { model } = fields;
  if (typeof model !== 'string' || model === '') throw missing('model', 'the name of a model');
  return model;
}

/** The length of a list. Throws `invalid_request` if it is empty or no list. */
function list(fields: JsonObject, parameter: string): Amount {
  const value = fields[parameter];
  if (!Array.isArray(value) || value.length === 0) throw fieldError(parameter, 'a list that is not empty');
  return { count: value.length, parameter };
}

function one(parameter: string): Amount {
  return { count: 1, parameter };
}

/** Throws `invalid_request` unless the parameter is a non-empty string. */
function requireText(fields: JsonObject, parameter: string): void {
  const value = fields[parameter];
  if (typeof value !== 'string' || value === '') throw fieldError(parameter, 'a text that is not empty');
}

/** In a form every value is a string. */
function streamOf({ stream }: JsonObject): boolean {
  if (stream === undefined || stream === null || stream === false || stream === 'false') return false;
  if (stream === true || stream === 'true' || stream === 'True') return true;
  throw fieldError('stream', 'true or false');
}

function choicesOf({ n }: JsonObject): Amount {
  const count = n === undefined || n === null ? 1 : Number(n);
  if (!Number.isInteger(count) || count < 1) throw fieldError('n', 'a whole number from 1 on');
  return { count, parameter: 'n' };
}

function missing(parameter: string, what: string): GatewayError {
  return invalidRequest(`Send ${what} as "${parameter}".`, parameter);
}
