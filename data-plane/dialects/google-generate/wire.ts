/**
 * Values of the generative language format and their conversions. https://ai.google.dev/api/generate-content
 */
import type { Block, Citation, Effort, FinishReason, Media, TokenLogprob, Usage } from '../canonical.ts';
import { fieldError, isObject, numberOf, objectOf, objectsOf, textOf } from '../fields.ts';
import type { Fields, JsonObject } from '../fields.ts';
import { tierOf } from '../member-table.ts';
import { MODALITIES, sameWords, wordOf } from '../vocabularies.ts';
import type { Modality, ReadTable, ServiceTier, WriteTable } from '../vocabularies.ts';

export const NAME = 'google-generate';

/** Replaces the signature of tool calls that have none. Gemini CLI sends this value, too. */
export const NO_SIGNATURE = 'skip_thought_signature_validator';

/** Values of `serviceTier`, without the prefix that some clients write. */
const READ_TIERS: ReadTable<ServiceTier> = sameWords(['standard', 'flex', 'priority']);
/** The tiers that a request can ask for. `standard` is the default, and older services lack the field. */
export const REQUEST_TIERS: WriteTable<ServiceTier> = {
  auto: undefined,
  standard: undefined,
  flex: 'flex',
  priority: 'priority',
  scale: undefined,
  batch: undefined,
};

/** Decodes `serviceTier`; undefined for tiers that the service does not document. */
export function readTier(value: unknown): ServiceTier | undefined {
  return wordOf(READ_TIERS, tierOf(textOf(value)));
}

/** Values of `responseModalities`. */
export const READ_MODALITIES: ReadTable<Modality> = {
  ...sameWords(MODALITIES),
  TEXT: 'text',
  AUDIO: 'audio',
  IMAGE: 'image',
  VIDEO: 'video',
};
/** The kinds of output that a request can ask for. */
export const WIRE_MODALITIES: WriteTable<Modality> = {
  text: 'TEXT',
  audio: 'AUDIO',
  image: 'IMAGE',
  video: 'VIDEO',
};

/** Values of `thinkingLevel`, weakest first. */
export const LEVELS: readonly Effort[] = ['minimal', 'low', 'medium', 'high'];

const WIRE_FINISHES: Record<FinishReason, string> = {
  stop: 'STOP',
  tool: 'STOP',
  pause: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
  refusal: 'SAFETY',
  error: 'MALFORMED_FUNCTION_CALL',
  other: 'OTHER',
};

const FINISH_REASONS: Record<string, FinishReason> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filter',
  RECITATION: 'filter',
  LANGUAGE: 'filter',
  BLOCKLIST: 'filter',
  PROHIBITED_CONTENT: 'filter',
  SPII: 'filter',
  IMAGE_SAFETY: 'filter',
  IMAGE_PROHIBITED_CONTENT: 'filter',
  IMAGE_RECITATION: 'filter',
  MODEL_ARMOR: 'filter',
  MALFORMED_FUNCTION_CALL: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
  MALFORMED_RESPONSE: 'error',
};

/** Encodes the finish of a choice as `finishReason`. */
export function writeFinish(finish: FinishReason): string {
  return WIRE_FINISHES[finish];
}

/** Decodes `finishReason`. STOP of an answer with tool calls becomes `tool`. */
export function readFinish(finishReason: string, kinds: ReadonlySet<Block['kind']>): FinishReason {
  const reason = FINISH_REASONS[finishReason] ?? 'other';
  return reason === 'stop' && kinds.has('tool-call') ? 'tool' : reason;
}

/** Decodes `usageMetadata`, which counts thoughts and the prompts of server-side tools separately. */
export function readUsage(value: JsonObject): Usage {
  const prompt = numberOf(value.promptTokenCount);
  const tools = numberOf(value.toolUsePromptTokenCount);
  const visible = numberOf(value.candidatesTokenCount) ?? numberOf(value.responseTokenCount);
  const thoughts = numberOf(value.thoughtsTokenCount);
  const serviceTier = readTier(value.serviceTier);
  return {
    tokens: {
      input: prompt === undefined && tools === undefined ? null : (prompt ?? 0) + (tools ?? 0),
      output: visible === undefined && thoughts === undefined ? null : (visible ?? 0) + (thoughts ?? 0),
      cached: numberOf(value.cachedContentTokenCount) ?? null,
      reasoning: thoughts ?? null,
    },
    ...(serviceTier ? { serviceTier } : {}),
  };
}

/** Encodes `usageMetadata`. */
export function writeUsage({ tokens }: Usage): JsonObject {
  const input = tokens.input ?? 0;
  const output = tokens.output ?? 0;
  const thoughts = tokens.reasoning ?? 0;
  return {
    promptTokenCount: input,
    candidatesTokenCount: Math.max(0, output - thoughts),
    totalTokenCount: input + output,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(tokens.cached ? { cachedContentTokenCount: tokens.cached } : {}),
  };
}

/**
 * The spelling of a field that the object uses: the service accepts camel case and snake case. Throws
 * `invalid_request` if both are present, because only one of them would be checked.
 */
export function spelling(fields: Fields, name: string): string {
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (!fields.has(snake)) return name;
  if (snake !== name && fields.has(name)) throw fieldError(fields.pointer(snake), 'written once');
  return snake;
}

/** Encodes a medium as `inlineData` or `fileData`. */
export function writeMedia(media: Media): JsonObject {
  const { source, mediaType } = media;
  if ('base64' in source)
    return { inlineData: { mimeType: mediaType || DEFAULT_TYPES[media.type], data: source.base64 } };
  if ('text' in source) {
    return {
      inlineData: { mimeType: mediaType || 'text/plain', data: Buffer.from(source.text).toString('base64') },
    };
  }
  return {
    fileData: {
      mimeType: mediaType || typeOfUrl(source.url) || DEFAULT_TYPES[media.type],
      fileUri: source.url,
    },
  };
}

const DEFAULT_TYPES: Record<Media['type'], string> = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  file: 'application/pdf',
};

const EXTENSIONS: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  mp4: 'video/mp4',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
};

function typeOfUrl(url: string): string | undefined {
  return EXTENSIONS[/\.([a-z0-9]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? ''];
}

/** Decodes `logprobsResult`, two parallel lists of chosen tokens and their alternatives. */
export function readLogprobs(value: unknown): TokenLogprob[] | undefined {
  const { chosenCandidates, topCandidates } = objectOf(value);
  const chosen = objectsOf(chosenCandidates);
  if (chosen.length === 0) return undefined;
  const top = objectsOf(topCandidates);
  return chosen.map((one, index) => ({
    ...readToken(one),
    top: objectsOf(top[index]?.candidates).map(readToken),
  }));
}

function readToken({ token, logProbability }: JsonObject): { token: string; logprob: number } {
  return { token: textOf(token), logprob: numberOf(logProbability) ?? 0 };
}

/** Encodes `logprobsResult`. */
export function writeLogprobs(logprobs: TokenLogprob[]): JsonObject {
  const write = ({ token, logprob }: { token: string; logprob: number }): JsonObject => ({
    token,
    logProbability: logprob,
  });
  return {
    chosenCandidates: logprobs.map(write),
    topCandidates: logprobs.map(({ top }) => ({ candidates: top.map(write) })),
  };
}

/** Decodes all citations of a candidate: from search, documents and maps, and quotations. */
export function readCitations(candidate: JsonObject): Citation[] {
  const grounding = objectsOf(objectOf(candidate.groundingMetadata).groundingChunks).map(
    (chunk) => [chunk.web, chunk.retrievedContext, chunk.maps].find(isObject) ?? {},
  );
  const metadata = objectOf(candidate.citationMetadata);
  const quoted = objectsOf(metadata.citationSources ?? metadata.citations);
  return [...grounding, ...quoted].flatMap(({ uri, title, text, startIndex, endIndex }) => {
    const start = numberOf(startIndex);
    const end = numberOf(endIndex);
    const citation: Citation = {
      ...(typeof uri === 'string' ? { url: uri } : {}),
      ...(typeof title === 'string' ? { title } : {}),
      ...(typeof text === 'string' ? { text } : {}),
      ...(start === undefined ? {} : { start }),
      ...(end === undefined ? {} : { end }),
    };
    return (citation.url ?? citation.title ?? citation.text) ? [citation] : [];
  });
}

/** Encodes a citation as a grounding chunk: of the web if it has a URL, else of a document. */
export function writeCitation({ url, title, text }: Citation): JsonObject {
  const titled = title === undefined ? {} : { title };
  if (url !== undefined) return { web: { uri: url, ...titled } };
  return { retrievedContext: { ...titled, ...(text === undefined ? {} : { text }) } };
}
