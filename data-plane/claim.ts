/**
 * The Idempotency-Key of a billed request: claimed at the control plane before money is held, so that a key
 * is charged at most once over all nodes; given back when the request cost nothing.
 */
import { createHash } from 'node:crypto';
import { GatewayError } from '@gateway/shared/failures';
import type { NodeRequestClaimAnswer, NodeRequestClaimInput } from '@gateway/shared/node-api';
import type { Call } from './call.ts';
import type { Control } from './control.ts';

/** What the claims need of the control plane. Both reject when no answer came. */
export interface ClaimOffice {
  claim(input: Omit<NodeRequestClaimInput, 'nodeId'>): Promise<NodeRequestClaimAnswer>;
  release(requestId: string): Promise<void>;
}

/** Claims for a node that has an id once it is registered; before that there is no answer. */
export function claimsOver(
  control: Pick<Control, 'claimRequest' | 'releaseRequest'>,
  ownId: () => string | undefined,
): ClaimOffice {
  const nodeId = (): string => {
    const id = ownId();
    if (id === undefined) throw new Error('the node is not registered yet');
    return id;
  };
  return {
    claim: async (input) => control.claimRequest({ ...input, nodeId: nodeId() }),
    release: async (requestId) => void (await control.releaseRequest({ nodeId: nodeId(), requestId })),
  };
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
    // A release that gets lost costs nothing but time: the usage log frees the key, too.
    end: (charged) => void (charged ? undefined : office?.release(call.id).catch(() => undefined)),
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
