/** Reads a request's body, only once the caller is known and only as far as the limits allow. */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';

/** What all bodies being read or held may take together in one node, in bytes. */
export const BODY_MEMORY_BYTES = 512 * 1024 * 1024;

/** Counts the bytes of all bodies in flight, so that many large ones cannot exhaust the process. */
export class BodyMemory {
  #used = 0;

  /** Takes memory, or throws `unavailable` when all of it is in use. */
  take(bytes: number): void {
    if (this.#used + bytes > BODY_MEMORY_BYTES) {
      throw new GatewayError(
        'unavailable',
        'The gateway is holding too many large requests. Try again in a moment.',
        { retryAfterMs: 1_000 },
      );
    }
    this.#used += bytes;
  }

  /** Gives memory back. */
  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/**
 * The whole body, at most `limitBytes` long. Throws `body_too_large`, or `client_closed` when the client
 * left before
 * it had sent everything. The caller gives the bytes' memory back.
 */
export function readBody(request: IncomingMessage, limitBytes: number, memory: BodyMemory): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limitBytes) return Promise.reject(tooLarge(limitBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const fail = (error: GatewayError) => {
      memory.give(size);
      size = 0;
      request.off('data', take);
      // What still comes is read and thrown away, so that the client gets to see the answer.
      request.resume();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      try {
        memory.take(chunk.length);
      } catch (error) {
        fail(error instanceof GatewayError ? error : tooLarge(limitBytes));
        return;
      }
      size += chunk.length;
      chunks.push(chunk);
      if (size > limitBytes) fail(tooLarge(limitBytes));
    };
    request.on('data', take);
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', (cause) =>
      fail(new GatewayError('client_closed', 'The request body broke off.', { cause })),
    );
  });
}

function tooLarge(limitBytes: number): GatewayError {
  const megabytes = Math.floor(limitBytes / (1024 * 1024));
  return new GatewayError(
    'body_too_large',
    `The request body is larger than ${megabytes} MB. Send a smaller one.`,
  );
}
