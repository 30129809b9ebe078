/** The Idempotency-Key as a node sees it: what it asks for, how it refuses, and when it gives a key back. */
import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { asGatewayError } from '@gateway/shared/failures';
import type { NodeRequestClaimAnswer, NodeRequestClaimInput } from '@gateway/shared/node-api';
import type { Call } from './call.ts';
import { claimKey, claimsOver, fingerprinted } from './claim.ts';
import type { ClaimOffice } from './claim.ts';
import { Cut } from './cut.ts';
import { Reply } from './reply.ts';
import { FakeStore } from '../test/request-path.ts';

const BODY = '{"model":"swift"}';
const CLAIMED = { walletId: 'wallet-1', fingerprint: 'print' };
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function callWith(headers: IncomingHttpHeaders): Call {
  const { current } = new FakeStore();
  if (!current) throw new Error('no configuration');
  const incoming = new IncomingMessage(new Socket());
  return {
    ...{ id: 'request-1', method: 'POST', path: '/v1/chat/completions', query: new URLSearchParams() },
    ...{ headers, address: '192.0.2.7', at: 0, startedAt: 0, config: current, cut: new Cut() },
    reply: new Reply(new ServerResponse(incoming), {}),
    body: async () => Buffer.from(BODY),
    incoming: () => incoming,
    onEnd: () => undefined,
  };
}
const withKey = (key: string): Call => callWith({ 'idempotency-key': key });

/** Answers every claim with this, and remembers what it was asked. */
function officeOf(answer: Partial<NodeRequestClaimAnswer> | Error) {
  const claims: object[] = [];
  const releases: string[] = [];
  const office: ClaimOffice = {
    claim: async (input) => {
      claims.push(input);
      if (answer instanceof Error) throw answer;
      return { state: null, requestId: null, cost: null, ...answer };
    },
    release: async (requestId) => {
      releases.push(requestId);
      throw new Error('the control plane is away');
    },
  };
  return { office, claims, releases };
}

it('a request without a key asks nobody and reads nothing for it', async () => {
  const { office, claims } = officeOf({ state: 'CLAIMED' });
  const { call, fingerprint } = fingerprinted(callWith({}));
  await call.body(100);
  expect([fingerprint(), call.fingerprint]).toEqual(['', undefined]);
  expect(await claimKey(call, CLAIMED, office)).toBeUndefined();
  expect(claims).toEqual([]);
});

it('a key is asked for with its digest, the path and the body’s digest, never in clear', async () => {
  const { office, claims } = officeOf({ state: 'CLAIMED' });
  const { call, fingerprint } = fingerprinted(withKey('order-7'));
  expect(String(await call.body(100))).toBe(BODY);
  expect(fingerprint()).toBe(digest(BODY));
  await claimKey(call, { walletId: 'wallet-1', fingerprint: fingerprint() }, office);
  expect(claims).toEqual([
    {
      walletId: 'wallet-1',
      fingerprint: digest(BODY),
      route: '/v1/chat/completions',
      keyDigest: digest('order-7'),
      requestId: 'request-1',
    },
  ]);
});

it('a body that is read in pieces says by itself what it was; one that nobody read is our mistake', () => {
  const { call, fingerprint } = fingerprinted(withKey('order-7'));
  expect(() => fingerprint()).toThrow('nobody read the body of /v1/chat/completions');
  call.fingerprint?.('said');
  expect(fingerprint()).toBe('said');
});

it('a key is kept by a request that was charged, and given back by one that was not', async () => {
  const { office, releases } = officeOf({ state: 'CLAIMED' });
  (await claimKey(withKey('order-7'), CLAIMED, office))?.end(true);
  expect(releases).toEqual([]);
  (await claimKey(withKey('order-7'), CLAIMED, office))?.end(false);
  expect(releases).toEqual(['request-1']);
});

it.each([
  [{ state: 'IN_FLIGHT', requestId: 'other' }, 'idempotency_in_flight', /Request other has this/, true],
  [
    { state: 'DONE', requestId: 'other', cost: '0.30' },
    'idempotency_done',
    /Request other .* 0.30 USD/,
    false,
  ],
  [{ state: 'MISMATCH' }, 'idempotency_mismatch', /with another body/, false],
  [{ state: null }, 'unavailable', /cannot check/, true],
  [new Error('away'), 'unavailable', /cannot check/, true],
  [undefined, 'unavailable', /cannot check/, true],
] as const)('the answer %o refuses the request as %s', async (answer, code, words, mayRetry) => {
  const office = answer === undefined ? undefined : officeOf(answer).office;
  const error = await claimKey(withKey('order-7'), CLAIMED, office).then(
    () => undefined,
    (reason: unknown) => asGatewayError(reason),
  );
  expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
  expect(error?.details.retryAfterMs).toBe(mayRetry ? 2_000 : undefined);
  expect(error?.details.cause).toBe(answer instanceof Error ? answer : undefined);
});

it.each(['', 'x'.repeat(256), 'with space', 'ümlaut', 'line\nbreak'])(
  'what cannot be a key is 400, and nobody is asked (%j)',
  async (key) => {
    const { office, claims } = officeOf({ state: 'CLAIMED' });
    await expect(claimKey(withKey(key), CLAIMED, office)).rejects.toMatchObject({
      code: 'invalid_request',
      details: { parameter: 'Idempotency-Key' },
    });
    expect(claims).toEqual([]);
  },
);

it.each(['x', 'x'.repeat(255), '!~'])('%j is a key', async (key) => {
  const { office } = officeOf({ state: 'CLAIMED' });
  expect(await claimKey(withKey(key), CLAIMED, office)).toBeDefined();
});

it('before the node is registered there is no answer; then it asks in its own name', async () => {
  const asked: object[] = [];
  let id: string | undefined;
  const control: Parameters<typeof claimsOver>[0] = {
    claimRequest: async (input: NodeRequestClaimInput) => {
      asked.push(input);
      return { state: 'CLAIMED', requestId: null, cost: null };
    },
    releaseRequest: async (input) => {
      asked.push(input);
      return { ok: true, userErrors: [] };
    },
  };
  const office = claimsOver(control, () => id);
  const claim = { ...CLAIMED, route: '/v1/messages', keyDigest: 'digest', requestId: 'request-1' };
  await expect(office.claim(claim)).rejects.toThrow('not registered yet');
  await expect(office.release('request-1')).rejects.toThrow('not registered yet');
  expect(asked).toEqual([]);
  id = 'node-1';
  await office.claim(claim);
  await office.release('request-1');
  expect(asked).toEqual([
    { ...claim, nodeId: 'node-1' },
    { nodeId: 'node-1', requestId: 'request-1' },
  ]);
});
