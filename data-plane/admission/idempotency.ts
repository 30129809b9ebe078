/**
 * The Idempotency-Key of a billed request. The control plane records the key before money is held, so that a
 * key is charged at most once over all nodes. A request that costs nothing releases its key.
 */
import { createHash } from 'node:crypto';
import { GatewayError } from '@gateway/shared/failures';
import type { NodeProcess, NodeRequestClaimAnswer, NodeRequestClaimInput } from '@gateway/shared/node-api';
import type { Call } from '../call/call.ts';
import { piecesOf } from '../call/pieces.ts';
import type { Pieces } from '../call/pieces.ts';
import type { Control } from '../control/client.ts';
import { RELEASED_KEYS_PER_MINUTE } from '../limits.ts';
import { ONLY_WORKER, partOf } from '../workers/worker.ts';
import type { Worker } from '../workers/worker.ts';
import { RequestsPerMinute } from './requests-per-minute.ts';

/** The idempotency records of all nodes, kept by the control plane. */
export interface IdempotencyStore {
  /**
   * Reserves a key for a request. After a rejection the store releases the key automatically. Rejects with
   * `rate_limited` if the wallet has released too many keys within a minute.
   */
  reserve(input: Omit<NodeRequestClaimInput, keyof NodeProcess>): Promise<NodeRequestClaimAnswer>;
  /** Releases the key of a request that cost nothing, as soon as the control plane can be reached. */
  release(requestId: string, walletId: string): void;
}

export interface IdempotencyStoreParts {
  control: Pick<Control, 'reserveIdempotencyKey' | 'releaseIdempotencyKey'>;
  /** Id of this process; undefined until the node is registered. */
  self(): NodeProcess | undefined;
  /** A monotonic clock in ms. */
  now(): number;
  /** Resolves after this time in ms. */
  pause(ms: number): Promise<void>;
  /** A random number from 0 to below 1. */
  random(): number;
  /** Workers of a node share its limit of released keys. By default the node is one process. */
  worker?: Worker | undefined;
}

/**
 * Maximum number of unacknowledged releases. A wallet may have at most as many of them as remain free; beyond
 * that it can reserve no further key. One wallet therefore takes at most a half, and other wallets can
 * reserve keys.
 */
export const PENDING_RELEASES_MAX = 10_000;
const RELEASES_AT_ONCE = 8;
/**
 * Maximum number of tries of one reservation. Several tries bridge seconds in which the control plane does
 * not answer. Each try has the time limit of the client.
 */
const RESERVE_TRIES = 4;
const RESERVE_RETRY_MS = 100;
/** Upper bound of the first pause after an unacknowledged release, in ms. It doubles with each failure. */
const RETRY_FIRST_MS = 200;
const RETRY_MAX_MS = 1_000;

/**
 * The records over a control plane. A release is retried until it is acknowledged: a request that has ended
 * keeps its key only if its process dies, and then the next start releases it.
 */
export class RemoteIdempotencyStore implements IdempotencyStore {
  readonly #parts: IdempotencyStoreParts;
  /** The wallets of the requests whose release is not acknowledged, in the order of their last attempt. */
  readonly #pending = new Map<string, string>();
  #releasing: Promise<void> | undefined;
  /** Keys that wallets released within the running minute. */
  readonly #released: RequestsPerMinute;

  constructor(parts: IdempotencyStoreParts) {
    this.#parts = parts;
    this.#released = new RequestsPerMinute(
      parts.now,
      partOf(RELEASED_KEYS_PER_MINUTE, parts.worker ?? ONLY_WORKER),
    );
  }

  async reserve(input: Omit<NodeRequestClaimInput, keyof NodeProcess>): Promise<NodeRequestClaimAnswer> {
    const self = this.#self();
    if (this.#released.isFull(input.walletId)) throw tooManyReleased(this.#released.restMs);
    if (this.#pendingOf(input.walletId) >= PENDING_RELEASES_MAX - this.#pending.size)
      throw new Error('too many Idempotency-Keys wait for their release; is the control plane reachable?');
    for (let tries = 1; ; tries += 1) {
      try {
        // A repeated reservation of the same request changes nothing.
        return await this.#parts.control.reserveIdempotencyKey({ ...input, ...self });
      } catch (error) {
        if (tries < RESERVE_TRIES) {
          await this.#parts.pause(RESERVE_RETRY_MS);
          continue;
        }
        // The message may have arrived although no answer came.
        this.#queueRelease(input.requestId, input.walletId);
        throw error;
      }
    }
  }

  release(requestId: string, walletId: string): void {
    this.#released.count(walletId);
    this.#queueRelease(requestId, walletId);
  }

  /** Resolves when every release is acknowledged, or after `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    await Promise.race([this.#releasing, this.#parts.pause(limitMs)]);
  }

  #queueRelease(requestId: string, walletId: string): void {
    this.#pending.set(requestId, walletId);
    this.#releasing ??= this.#releaseAll();
  }

  async #releaseAll(): Promise<void> {
    for (let failures = 0; this.#pending.size > 0;) {
      const batch = [...this.#pending].slice(0, RELEASES_AT_ONCE);
      const acknowledged = await Promise.all(batch.map((one) => this.#tryRelease(one)));
      failures = acknowledged.every(Boolean) ? 0 : failures + 1;
      const maxMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (failures - 1));
      if (failures > 0) await this.#parts.pause(this.#parts.random() * maxMs);
    }
    this.#releasing = undefined;
  }

  /** Sends one release. Returns whether the control plane acknowledged it. */
  async #tryRelease([requestId, walletId]: [string, string]): Promise<boolean> {
    try {
      const { nodeId } = this.#self();
      await this.#parts.control.releaseIdempotencyKey({ nodeId, requestId });
    } catch {
      // A failed release moves to the end, so that it delays no other.
      this.#pending.delete(requestId);
      this.#pending.set(requestId, walletId);
      return false;
    }
    this.#pending.delete(requestId);
    return true;
  }

  /** Number of unacknowledged releases of a wallet. */
  #pendingOf(walletId: string): number {
    let count = 0;
    for (const wallet of this.#pending.values()) if (wallet === walletId) count += 1;
    return count;
  }

  /** Id of this process. Throws an Error before the node is registered. */
  #self(): NodeProcess {
    const self = this.#parts.self();
    if (!self) throw new Error('this node is not registered yet, so it cannot reserve an Idempotency-Key');
    return self;
  }
}

function tooManyReleased(retryAfterMs: number): GatewayError {
  const message =
    `More than ${RELEASED_KEYS_PER_MINUTE} requests with an Idempotency-Key failed within a minute. ` +
    'Find out why they fail, and send fewer.';
  return new GatewayError('rate_limited', message, { retryAfterMs });
}

/** The record that reserves a key for this request. */
export interface IdempotencyRecord {
  /** Keeps the key if the request was charged, else releases it. Called once, when the request has ended. */
  end(charged: boolean): void;
}

const KEY = /^[\x21-\x7e]{1,255}$/;
const RETRY_AFTER_MS = 2_000;

/** A call with an Idempotency-Key, which computes the digest of its body while the body is read. */
export interface FingerprintedCall {
  call: Call;
  /** SHA-256 of the body in hex. Throws if the body was not read. */
  fingerprint(): string;
}

/** The call with its body's digest; undefined if the client sent no Idempotency-Key. */
export function fingerprintBody(call: Call): FingerprintedCall | undefined {
  if (call.headers['idempotency-key'] === undefined) return undefined;
  let digest: string | undefined;
  const body = async (limitBytes: number): Promise<Buffer> => {
    const bytes = await call.body(limitBytes);
    digest = sha256(bytes);
    return bytes;
  };
  const pieces = async (limitBytes: number): Promise<Pieces> => {
    const read = piecesOf(await call.pieces(limitBytes));
    digest = sha256(read.whole());
    return read;
  };
  const setFingerprint = (value: string): void => {
    digest = value;
  };
  return {
    call: { ...call, body, pieces, fingerprint: setFingerprint },
    fingerprint: () => {
      if (digest === undefined) throw new Error(`the body of ${call.path} was not read`);
      return digest;
    },
  };
}

/**
 * Reserves the key for this request. Throws `idempotency_in_flight`, `idempotency_done` or
 * `idempotency_mismatch` if another request has the key, `unavailable` if the control plane is away,
 * `rate_limited` if too many requests of the wallet with a key have failed, and `invalid_request` for a
 * malformed key.
 */
export async function reserveKey(
  { call, fingerprint }: FingerprintedCall,
  walletId: string,
  store: IdempotencyStore | undefined,
): Promise<IdempotencyRecord> {
  const key = call.headers['idempotency-key'];
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'The Idempotency-Key must have 1 to 255 visible ASCII characters. Send another one.';
    throw new GatewayError('invalid_request', message, { parameter: 'Idempotency-Key' });
  }
  if (!store) throw refusalOf(undefined);
  const keyDigest = sha256(key);
  const input = { walletId, fingerprint: fingerprint(), route: call.path, keyDigest, requestId: call.id };
  const answer = await store.reserve(input).catch((cause: unknown) => {
    if (cause instanceof GatewayError && cause.code === 'rate_limited') throw cause;
    return { cause, state: null };
  });
  if (answer.state !== 'CLAIMED') throw refusalOf(answer);
  return {
    end: (charged) => {
      if (!charged) store.release(call.id, walletId);
    },
  };
}

type ReserveAnswer = NodeRequestClaimAnswer | { cause: unknown; state: null } | undefined;

function refusalOf(answer: ReserveAnswer): GatewayError {
  const requestId = answer && 'requestId' in answer ? answer.requestId : null;
  switch (answer?.state) {
    case 'IN_FLIGHT':
      return new GatewayError(
        'idempotency_in_flight',
        `Request ${requestId} has this Idempotency-Key and is in progress. Try again when it has ended.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    case 'DONE':
      return new GatewayError(
        'idempotency_done',
        `Request ${requestId} had this Idempotency-Key, was answered and cost ${answer.cost} USD. ` +
          'Answers are not kept. Use a new key for a new request.',
      );
    case 'MISMATCH':
      return new GatewayError(
        'idempotency_mismatch',
        'This Idempotency-Key was used with another body. Use a new key.',
      );
    default:
      return new GatewayError(
        'unavailable',
        'The gateway cannot check the Idempotency-Key at the moment. Try again shortly.',
        { retryAfterMs: RETRY_AFTER_MS, cause: answer && 'cause' in answer ? answer.cause : undefined },
      );
  }
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}
