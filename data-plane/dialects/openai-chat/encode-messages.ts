/** Encodes canonical messages as `messages` of a chat completions request. */
import type { ChatRequest, Media, Message, Part, Seal, ToolCallBody, ToolResultBody } from '../canonical.ts';
import type { Drops } from '../drops.ts';
import type { JsonObject } from '../fields.ts';
import { base64Of, urlOf } from '../media.ts';
import { writeReasoning } from './reasoning.ts';
import { NAME } from './wire.ts';

type Located<Body> = Body & { at: string };

/** Encodes all messages. Adds to `drops` what this format cannot carry. */
export function writeMessages(request: ChatRequest, drops: Drops): JsonObject[] {
  const messages: JsonObject[] = [];
  const { messages: given } = request;
  const loopStart = toolLoopStart(given);
  for (let index = 0; index < given.length; index += 1) {
    const message = given[index];
    if (!message) continue;
    if (message.role === 'assistant') messages.push(...writeAssistant(message, index > loopStart, drops));
    else if (message.role !== 'user') messages.push(...writeInstructions(message, drops));
    else {
      // Providers require tool results directly after their calls, so the results of consecutive user
      // messages come before everything else in these messages.
      const run = userRun(given, index);
      messages.push(...writeUserRun(run, drops));
      index += run.length - 1;
    }
  }
  return messages;
}

/**
 * The index of the last user message with more than tool results; -1 if there is none. DeepSeek and others
 * require their own thinking back in messages after this index, and refuse thinking in earlier messages.
 * https://api-docs.deepseek.com/guides/thinking_mode
 */
function toolLoopStart(messages: Message[]): number {
  return messages.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some(({ kind }) => kind !== 'tool-result'),
  );
}

function userRun(messages: Message[], from: number): Message[] {
  const end = messages.findIndex(({ role }, index) => index > from && role !== 'user');
  return messages.slice(from, end < 0 ? undefined : end);
}

function named(message: Message): { name?: string } {
  return message.name === undefined ? {} : { name: message.name };
}

function writeInstructions(message: Message, drops: Drops): JsonObject[] {
  const content = writeContent(
    message.parts.filter((part) => {
      if (part.kind === 'media') drops.add(part.at);
      return part.kind !== 'media';
    }),
    drops,
  );
  return content.length === 0 ? [] : [{ role: message.role, content: simplify(content), ...named(message) }];
}

function writeUserRun(run: Message[], drops: Drops): JsonObject[] {
  const results: JsonObject[] = [];
  const others: JsonObject[] = [];
  for (const message of run) {
    const content: JsonObject[] = [];
    for (const part of message.parts) {
      if (part.kind !== 'tool-result') content.push(...writeContent([part], drops));
      else {
        const { text, media } = writeResult(part, drops);
        results.push(text);
        content.push(...media);
      }
    }
    if (content.length > 0) others.push({ role: 'user', content: simplify(content), ...named(message) });
  }
  return [...results, ...others];
}

/** Encodes a tool result, which holds only text in this format; its media follow in a user message. */
function writeResult(
  result: Located<ToolResultBody>,
  drops: Drops,
): { text: JsonObject; media: JsonObject[] } {
  drops.add(result.errorAt);
  const texts = writeContent(
    result.parts.filter(({ kind }) => kind !== 'media'),
    drops,
  );
  const media = writeContent(
    result.parts.filter(({ kind }) => kind === 'media'),
    drops,
  );
  return {
    text: { role: 'tool', tool_call_id: result.id, content: texts.length === 0 ? '' : simplify(texts) },
    media,
  };
}

/** Reduces a single text part to a plain string, which all providers understand. */
function simplify(content: JsonObject[]): string | JsonObject[] {
  const [first, ...rest] = content;
  return first?.type === 'text' && typeof first.text === 'string' && rest.length === 0 ? first.text : content;
}

function writeContent(parts: Part[], drops: Drops): JsonObject[] {
  return parts.flatMap((part) => {
    const written = writePart(part, drops);
    if (!written) drops.add(part.at);
    return written ? [written] : [];
  });
}

function writePart(part: Part, drops: Drops): JsonObject | undefined {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'refusal', refusal: part.text };
    case 'media':
      return writeMedia(part.media, drops);
    case 'native':
      return part.dialect === NAME ? part.value : undefined;
    default:
      return undefined;
  }
}

/** Undefined for media that this format cannot carry. */
function writeMedia(media: Media, drops: Drops): JsonObject | undefined {
  const base64 = base64Of(media);
  if (media.type === 'image') {
    drops.mediaBut(media, 'detail');
    return {
      type: 'image_url',
      image_url: { url: urlOf(media), ...(media.detail ? { detail: media.detail } : {}) },
    };
  }
  if (media.type === 'audio') {
    const format = audioFormat(media.mediaType);
    if (!base64 || !format) return undefined;
    drops.mediaBut(media);
    return { type: 'input_audio', input_audio: { data: base64, format } };
  }
  if (media.type === 'video' || base64 === undefined) return undefined;
  drops.mediaBut(media, 'name');
  return {
    type: 'file',
    file: { filename: media.name ?? fileName(media.mediaType), file_data: urlOf(media) },
  };
}

/** The format name of the audio types that chat completions accept. */
function audioFormat(mediaType: string): 'wav' | 'mp3' | undefined {
  if (/\/(x-|vnd\.)?wave?$/.test(mediaType)) return 'wav';
  return /\/(mp3|mpeg|mpga)$/.test(mediaType) ? 'mp3' : undefined;
}

/** A name for a file without one. OpenAI recognises the type of a file by the extension. */
function fileName(mediaType: string): string {
  const extension = mediaType === 'text/plain' ? 'txt' : (mediaType.split('/')[1] ?? 'bin');
  return `file.${extension}`;
}

function writeAssistant(message: Message, isInToolLoop: boolean, drops: Drops): JsonObject[] {
  const calls = message.parts.filter((part) => part.kind === 'tool-call');
  const refusal = message.parts
    .filter((part) => part.kind === 'refusal')
    .map(({ text }) => text)
    .join('');
  const content = writeContent(
    message.parts.filter(({ kind }) => kind === 'text' || kind === 'native'),
    drops,
  );
  const thoughts: { text: string; seal: Seal }[] = [];
  for (const { at, ...part } of message.parts) {
    if (part.kind === 'reasoning' && part.seal?.dialect === NAME && isInToolLoop)
      thoughts.push({ text: part.text, seal: part.seal });
    else if (part.kind === 'reasoning' || part.kind === 'media' || part.kind === 'tool-result') drops.add(at);
  }
  const isEmpty = content.length === 0 && calls.length === 0 && !refusal && thoughts.length === 0;
  if (isEmpty) return [];
  return [
    {
      role: 'assistant',
      content: content.length === 0 ? null : simplify(content),
      ...named(message),
      ...writeReasoning(thoughts),
      ...(refusal ? { refusal } : {}),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(writeCall) }),
    },
  ];
}

function writeCall({ id, name, text, custom }: ToolCallBody): JsonObject {
  if (custom) return { id, type: 'custom', custom: { name, input: text } };
  return { id, type: 'function', function: { name, arguments: text } };
}
