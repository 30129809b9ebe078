/** Decompresses request bodies within their limits. https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1 */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Gunzip } from 'node:zlib';
import { GatewayError } from '@gateway/shared/failures';
import { EXPANSION_FREE_BYTES, EXPANSION_MAX, SMALL_BODY_BYTES } from '../limits.ts';
import type { IncomingBody } from './body.ts';
import { bodyTooLarge, invalidRequest } from './refusals.ts';
import { Slab } from './slab.ts';

/** Encodings of a request body that are read. */
export const ENCODINGS = ['gzip', 'deflate', 'br'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The encoding that a `Content-Encoding` header names; undefined for `identity` and unknown ones. */
export function encodingOf(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const name = header.trim().toLowerCase().replace(/^x-/, '');
  return ENCODINGS.find((known) => known === name);
}

/**
 * The decompressed bytes, which count in the payer's share of the memory like a body that is sent plain.
 * Rejects with `body_too_large` above `limitBytes`, `invalid_request` if the bytes cannot be read or expand
 * too far, `too_many_concurrent` above the share of the wallet, and with the payer's refusal.
 */
export async function decompress(
  bytes: Buffer,
  { encoding, limitBytes, body }: { encoding: Encoding; limitBytes: number; body: IncomingBody },
): Promise<Buffer> {
  const stream = decompressorOf(encoding, bytes);
  const slab = new Slab(limitBytes);
  let isLong = false;
  stream.end(bytes);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const size = slab.length + chunk.length;
      if (size > limitBytes) throw bodyTooLarge(limitBytes);
      if (size > EXPANSION_FREE_BYTES && size > bytes.length * EXPANSION_MAX) throw expandsTooFar();
      if (size > SMALL_BODY_BYTES) {
        if (!isLong) await body.payer?.afford();
        isLong = true;
        body.keep(slab.capacityFor(chunk.length) - slab.capacity);
      }
      slab.append(chunk);
    }
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : unreadable(encoding, cause);
  } finally {
    stream.destroy();
  }
  return slab.bytes();
}

function decompressorOf(encoding: Encoding, bytes: Buffer): Gunzip {
  if (encoding === 'gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  // Some clients send `deflate` without the header of zlib, which names method 8 in its first byte.
  const hasHeader = ((bytes[0] ?? 0) & 0x0f) === 8;
  return hasHeader ? createInflate() : createInflateRaw();
}

function unreadable(encoding: Encoding, cause: unknown): GatewayError {
  const message = `The request body is not valid ${encoding}. Compress it again, or send it plain.`;
  return new GatewayError('invalid_request', message, { cause });
}

function expandsTooFar(): GatewayError {
  return invalidRequest(
    `The request body expands to more than ${EXPANSION_MAX} times its size. Send it uncompressed.`,
  );
}
