/**
 * The Idempotency-Key of a billed request: claimed at the control plane before money is held, so that a key
 * is charged at most once over all nodes; given back when the request cost nothing.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '@gateway/shared/failures';
import type { NodeProcess, NodeRequestClaimAnswer, NodeRequestClaimInput } from '@gateway/shared/node-api';
import type { Call } from './call.ts';
import type { Control } from './control.ts';

/** What a request needs of the control plane for its key. */
export interface ClaimOffice {
  /** Rejects when no answer came; the key is given back then, whether the claim arrived or not. */
  claim(input: Omit<NodeRequestClaimInput, keyof NodeProcess>): Promise<NodeRequestClaimAnswer>;
  /** Gives back the key of a request that cost nothing, as soon as the control plane can hear it. */
  release(requestId: string): void;
}

export interface ClaimParts {
  control: Pick<Control, 'claimRequest' | 'releaseRequest'>;
  /** This process; undefined until the control plane knows it. */
  self(): NodeProcess | undefined;
}

/** Releases that wait to be heard. With so many no key is claimed: it could not be given back. */
const RELEASES_MAX = 10_000;
const RELEASES_AT_ONCE = 8;
/** Pauses after a release that was not heard, in ms. */
const AGAIN_BASE_MS = 100;
const AGAIN_MAX_MS = 1_000;

/**
 * Claims of a node. A release is repeated until it is heard: a key never stays taken by a request that has
 * ended, unless its process dies, and then the next start frees it.
 */
export class NodeClaims implements ClaimOffice {
  readonly #parts: ClaimParts;
  readonly #waiting = new Set<string>();
  #releasing: Promise<void> | undefined;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
  }

  async claim(input: Omit<NodeRequestClaimInput, keyof NodeProcess>): Promise<NodeRequestClaimAnswer> {
    const self = this.#parts.self();
    if (!self) throw new Error('the node is not registered yet');
    if (this.#waiting.size >= RELEASES_MAX) throw new Error('too many keys wait to be given back');
    try {
      return await this.#parts.control.claimRequest({ ...input, ...self });
    } catch (error) {
      this.release(input.requestId);
      throw error;
    }
  }

  release(requestId: string): void {
    this.#waiting.add(requestId);
    this.#releasing ??= this.#release();
  }

  /** Resolves when all releases are heard, or after so long. */
  async drain(limitMs: number): Promise<void> {
    await Promise.race([this.#releasing, sleep(limitMs, undefined, { ref: false })]);
  }

  async #release(): Promise<void> {
    for (let failures = 0; this.#waiting.size > 0;) {
      const some = [...this.#waiting].slice(0, RELEASES_AT_ONCE);
      const heard = await Promise.all(some.map((requestId) => this.#tell(requestId)));
      failures = heard.every(Boolean) ? 0 : failures + 1;
      const most = Math.min(AGAIN_MAX_MS, AGAIN_BASE_MS * 2 ** Math.min(failures, 10));
      if (failures > 0) await sleep(Math.random() * most, undefined, { ref: false });
    }
    this.#releasing = undefined;
  }

  /** Whether it was heard. What was not goes to the end, so that nothing waits for it. */
  async #tell(requestId: string): Promise<boolean> {
    const nodeId = this.#parts.self()?.nodeId ?? '';
    const heard = await this.#parts.control.releaseRequest({ nodeId, requestId }).then(
      () => true,
      () => false,
    );
    this.#waiting.delete(requestId);
    if (!heard) this.#waiting.add(requestId);
    return heard;
  }
}

/** A key that this request has. */
export interface Claim {
  /** Called once, when the request has ended. */
  end(charged: boolean): void;
}

const KEY = /^[\x21-\x7e]{1,255}$/;
const RETRY_AFTER_MS = 2_000;

/** A call that remembers the digest of its body, where the client sent a key. */
export interface FingerprintedCall {
  call: Call;
  /** Digest of the body that was read. Throws where the client sent a key and nothing was read. */
  fingerprint(): string;
}

/** Watches the body of a call being read. Without a key nothing is computed. */
export function fingerprinted(call: Call): FingerprintedCall {
  if (call.headers['idempotency-key'] === undefined) return { call, fingerprint: () => '' };
  let digest: string | undefined;
  const body = async (limitBytes: number): Promise<Buffer> => {
    const bytes = await call.body(limitBytes);
    digest = sha256(bytes);
    return bytes;
  };
  const fingerprint = (said: string): void => {
    digest = said;
  };
  return {
    call: { ...call, body, fingerprint },
    fingerprint: () => {
      if (digest === undefined) throw new Error(`nobody read the body of ${call.path}`);
      return digest;
    },
  };
}

/**
 * Takes the key for this request; undefined where the client sent none. Throws `idempotency_in_flight`,
 * `idempotency_done` or `idempotency_mismatch` when another request has it, `unavailable` while the control
 * plane is away, and `invalid_request` for a key that cannot be one.
 */
export async function claimKey(
  call: Call,
  claimed: { walletId: string; fingerprint: string },
  office: ClaimOffice | undefined,
): Promise<Claim | undefined> {
  const key = call.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'An Idempotency-Key has 1 to 255 visible ASCII characters.';
    throw new GatewayError('invalid_request', message, { parameter: 'Idempotency-Key' });
  }
  const request = { ...claimed, route: call.path, keyDigest: sha256(key), requestId: call.id };
  const answer = await office?.claim(request).catch((cause: unknown) => ({ cause, state: null }));
  if (answer?.state !== 'CLAIMED') throw refusal(answer);
  return {
    end: (charged) => {
      if (!charged) office?.release(call.id);
    },
  };
}

type Answer = NodeRequestClaimAnswer | { cause: unknown; state: null } | undefined;

function refusal(answer: Answer): GatewayError {
  const requestId = answer && 'requestId' in answer ? answer.requestId : null;
  switch (answer?.state) {
    case 'IN_FLIGHT':
      return new GatewayError(
        'idempotency_in_flight',
        `Request ${requestId} has this Idempotency-Key and is being answered. Try again when it has ended.`,
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
