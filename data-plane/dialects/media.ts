/** Converts media between data URLs, URLs and base64, and classifies MIME types. */
import type { Media } from './canonical.ts';

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i;

/** The medium at a URL: inline base64 for a data URL, else the URL itself. */
export function mediaFromUrl(type: Media['type'], url: string): Media {
  const match = DATA_URL.exec(url);
  if (!match) return { type, mediaType: '', source: { url } };
  const [head, mediaType = '', parameters = ''] = match;
  const body = url.slice(head.length);
  const base64 = parameters.toLowerCase().endsWith(';base64') ? body : toBase64(safeDecode(body));
  return { type, mediaType: mediaType.toLowerCase() || 'text/plain', source: { base64 } };
}

/** The URL of a medium; a data URL if the medium is inline. */
export function urlOf({ source, mediaType }: Media): string {
  if ('url' in source) return source.url;
  if ('text' in source) return `data:${mediaType || 'text/plain'};base64,${toBase64(source.text)}`;
  return `data:${mediaType || 'application/octet-stream'};base64,${source.base64}`;
}

/** The inline data in base64; undefined if the medium is a URL. */
export function base64Of({ source }: Media): string | undefined {
  if ('url' in source) return undefined;
  return 'text' in source ? toBase64(source.text) : source.base64;
}

/** The type of medium that a MIME type stands for. */
export function typeOfMime(mediaType: string): Media['type'] {
  const family = mediaType.split('/')[0]?.toLowerCase();
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'file';
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
