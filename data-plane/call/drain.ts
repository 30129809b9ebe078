/**
 * Reads the rest of a body whose request was already answered. A client that still sends could not read its
 * answer if the connection was closed at once.
 */
import type { IncomingMessage } from 'node:http';
import { DRAIN_BYTES, DRAIN_CHUNK_BYTES, DRAIN_MS, SMALL_BODY_BYTES } from '../limits.ts';

/** Whether so much of the body may be missing that the connection is not worth keeping. */
export function hasLongRest({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return (
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BODY_BYTES
  );
}

/** Reads and discards the rest; calls `done` at its end, after `DRAIN_BYTES`, or after `DRAIN_MS`. */
export function drain(request: IncomingMessage, done: () => void): void {
  let left = DRAIN_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    request.off('data', take);
    request.off('end', finish);
    request.off('close', finish);
    done();
  };
  const take = (chunk: Buffer): void => {
    left -= Math.max(chunk.length, DRAIN_CHUNK_BYTES);
    if (left <= 0) finish();
  };
  const timer = setTimeout(finish, DRAIN_MS).unref();
  request.on('data', take);
  request.on('end', finish);
  request.on('close', finish);
  request.resume();
}
