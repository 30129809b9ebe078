/**
 * Values of the Converse format and their conversions.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import { createHash } from 'node:crypto';
import type { Block, Citation, FinishReason, Media, Usage } from '../canonical.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { base64Of } from '../media.ts';
import { wordOf } from '../vocabularies.ts';
import type { ReadTable, ServiceTier, WriteTable } from '../vocabularies.ts';

export const NAME = 'bedrock-converse';

/** Longest id of a tool call, in characters. */
const ID_LENGTH = 64;
/** Characters of the hash that replaces a longer id. */
const HASH_LENGTH = 40;
/** Longest name of a document, in characters. */
const DOCUMENT_NAME_LENGTH = 200;

/** The path of a request below the upstream's base address. */
export function pathFor(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}

const READ_TIERS: ReadTable<ServiceTier> = { default: 'standard', flex: 'flex', priority: 'priority' };
/** `serviceTier.type` of a request. A reserved tier is bought by the operator. */
export const REQUEST_TIERS: WriteTable<ServiceTier> = {
  auto: undefined,
  standard: 'default',
  flex: 'flex',
  priority: 'priority',
  scale: undefined,
  batch: undefined,
};

const FINISH_REASONS: Record<string, FinishReason> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool',
  guardrail_intervened: 'filter',
  content_filtered: 'filter',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
};

/** Decodes `stopReason`. A plain stop of an answer with tool calls becomes `tool`. */
export function readFinish(stopReason: string, kinds: ReadonlySet<Block['kind']>): FinishReason {
  const reason = Object.hasOwn(FINISH_REASONS, stopReason) ? FINISH_REASONS[stopReason] : undefined;
  if (reason === 'stop' && kinds.has('tool-call')) return 'tool';
  return reason ?? 'other';
}

/** Decodes `usage`, whose `inputTokens` exclude tokens read from and written to the cache, and the tier. */
export function readUsage({ usage, serviceTier }: JsonObject): Usage {
  const value = objectOf(usage);
  const input = numberOf(value.inputTokens);
  const read = numberOf(value.cacheReadInputTokens);
  const written = numberOf(value.cacheWriteInputTokens);
  const tier = wordOf(READ_TIERS, objectOf(serviceTier).type);
  return {
    tokens: {
      input: input === undefined ? null : input + (read ?? 0) + (written ?? 0),
      output: numberOf(value.outputTokens) ?? null,
      cached: read ?? null,
      // The format does not count them separately.
      reasoning: null,
    },
    ...(written ? { counters: { cacheWrite: written } } : {}),
    ...(tier ? { serviceTier: tier } : {}),
  };
}

/** Decodes the stop sequence that Claude found, which was asked for by its path. */
export function readStopSequence({ additionalModelResponseFields: fields }: JsonObject): string {
  return textOf(objectOf(fields).stop_sequence);
}

/** Decodes a citation of a web page or a document. */
export function readCitation({ title, sourceContent, location }: JsonObject): Citation {
  const { web, documentChar } = objectOf(location);
  const { url } = objectOf(web);
  const { start, end } = objectOf(documentChar);
  const text = objectsOf(sourceContent)
    .map((part) => textOf(part.text))
    .join('');
  const [from, to] = [numberOf(start), numberOf(end)];
  return {
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof title === 'string' && title ? { title } : {}),
    ...(text ? { text } : {}),
    ...(from === undefined ? {} : { start: from }),
    ...(to === undefined ? {} : { end: to }),
  };
}

/** Replaces what `toolUseId` does not allow, in the same way for a tool call and its result. */
export function safeId(id: string): string {
  const safe = id.replaceAll(/[^a-zA-Z0-9_.:-]/g, '_') || 'call';
  if (safe.length <= ID_LENGTH) return safe;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH)}`;
}

/** The formats of each kind of medium, by MIME type. */
const FORMATS: Record<Media['type'], Readonly<Record<string, string>>> = {
  image: {
    ...{ 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/jpg': 'jpeg' },
    ...{ 'image/gif': 'gif', 'image/webp': 'webp' },
  },
  file: {
    ...{ 'application/pdf': 'pdf', 'text/csv': 'csv', 'text/html': 'html' },
    ...{ 'text/markdown': 'md', 'text/plain': 'txt' },
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  },
  audio: {
    ...{ 'audio/mp3': 'mp3', 'audio/mpeg': 'mp3', 'audio/wav': 'wav', 'audio/x-wav': 'wav' },
    ...{ 'audio/flac': 'flac', 'audio/ogg': 'ogg', 'audio/opus': 'opus', 'audio/aac': 'aac' },
    ...{ 'audio/mp4': 'm4a', 'audio/m4a': 'm4a', 'audio/x-m4a': 'm4a' },
    ...{ 'audio/webm': 'webm', 'audio/pcm': 'pcm', 'audio/pcm16': 'pcm' },
  },
  video: {
    ...{ 'video/mp4': 'mp4', 'video/mpeg': 'mpeg', 'video/quicktime': 'mov', 'video/mov': 'mov' },
    ...{ 'video/webm': 'webm', 'video/x-flv': 'flv', 'video/x-matroska': 'mkv' },
    ...{ 'video/x-ms-wmv': 'wmv', 'video/wmv': 'wmv', 'video/3gpp': 'three_gp' },
  },
};

const MEMBERS: Record<Media['type'], string> = {
  image: 'image',
  file: 'document',
  audio: 'audio',
  video: 'video',
};

/**
 * Encodes a medium as its block; undefined if the format cannot carry it. Addresses are never sent: the
 * format reads only S3, with the operator's rights.
 */
export function writeMedia(media: Media, documents: DocumentNames): JsonObject | undefined {
  const { type, mediaType, source } = media;
  const bytes = base64Of(media);
  const mime = mediaType.toLowerCase().split(';')[0]?.trim() ?? '';
  const isText = type === 'file' && /^text\/|json|xml|yaml|javascript/.test(mime);
  const format = 'text' in source ? 'txt' : (FORMATS[type][mime] ?? (isText ? 'txt' : undefined));
  if (bytes === undefined || format === undefined) return undefined;
  const name = type === 'file' ? { name: documents.nameOf(media) } : {};
  return { [MEMBERS[type]]: { format, ...name, source: { bytes } } };
}

/** Decodes an image or a sound of an answer; undefined without inline data. */
export function readMedia(type: 'image' | 'audio', wire: JsonObject): Media | undefined {
  const { bytes } = objectOf(wire.source);
  const format = textOf(wire.format);
  if (typeof bytes !== 'string' || !bytes) return undefined;
  return { type, mediaType: format ? `${type}/${format}` : '', source: { base64: bytes } };
}

/** Names of a request's documents. The format refuses other characters, and two documents of one name. */
export class DocumentNames {
  readonly #taken = new Set<string>();

  nameOf({ name = '' }: Media): string {
    const plain = name.replaceAll(/[^a-zA-Z0-9\s()[\]-]+/g, '-').replaceAll(/\s+/g, ' ');
    const first = plain.slice(0, DOCUMENT_NAME_LENGTH).trim() || 'document';
    let free = first;
    for (let number = 2; this.#taken.has(free); number += 1) free = `${first} ${number}`;
    this.#taken.add(free);
    return free;
  }
}

/** Encodes the mark that the prompt is to be cached up to here. */
export function writeCachePoint({ ttl }: { ttl?: string }): JsonObject {
  const isKnown = ttl === '5m' || ttl === '1h';
  return { cachePoint: { type: 'default', ...(isKnown ? { ttl } : {}) } };
}

/** Whether a value of an answer is a block of thinking. */
export function reasoningOf(wire: JsonObject): JsonObject | undefined {
  return isObject(wire.reasoningContent) ? wire.reasoningContent : undefined;
}
