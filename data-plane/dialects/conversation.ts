/** Checks of a decoded request that types cannot express; upstreams would refuse what these checks refuse. */
import type { ChatRequest, Media, Part } from './canonical.ts';
import { fieldError } from './fields.ts';

/** Number of leading bytes that identify an image format. */
const SIGNATURE_BYTES = 16;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Throws `invalid_request` with the pointer of the part for a tool result without an earlier tool call, for
 * inline image data in no known format, and for a URL without a scheme. With `continues`, the calls may be
 * in a stored part of the conversation.
 */
export function checkConversation({ messages }: ChatRequest, continues = false): void {
  const called = continues ? undefined : new Set<string>();
  for (const { parts } of messages) {
    for (const part of parts) checkPart(part, called);
  }
}

/** `called` has the ids of the calls so far; undefined if not all of them are known. */
function checkPart(part: Part, called: Set<string> | undefined): void {
  if (part.kind === 'tool-call') called?.add(part.id);
  if (part.kind === 'media') checkMedia(part.media, part.at);
  if (part.kind !== 'tool-result') return;
  if (called && !called.has(part.id)) throw fieldError(part.at, 'the result of an earlier tool call');
  for (const inner of part.parts) checkPart(inner, called);
}

function checkMedia({ type, mediaType, source }: Media, at: string): void {
  if ('url' in source && !SCHEME.test(source.url)) throw fieldError(at, 'a URL or inline data');
  if (type !== 'image' || !('base64' in source) || mediaType.includes('svg')) return;
  const length = Math.ceil(SIGNATURE_BYTES / 3) * 4;
  const bytes = Buffer.from(source.base64.slice(0, length), 'base64');
  if (!isImage(bytes)) throw fieldError(at, 'an image in base64, as PNG, JPEG, GIF or WebP');
}

/** Whether the bytes start like PNG, JPEG, GIF, BMP, TIFF, WebP, or HEIC and AVIF (`ftyp`). */
function isImage(bytes: Buffer): boolean {
  const hex = bytes.toString('hex');
  const text = bytes.toString('latin1');
  return (
    /^(89504e47|ffd8ff|47494638|424d|49492a00|4d4d002a)/.test(hex) ||
    (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') ||
    text.slice(4, 8) === 'ftyp'
  );
}
