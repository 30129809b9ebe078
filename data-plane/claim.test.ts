/** The Idempotency-Key as a node sees it: what it asks for, how it refuses, and when it gives a key back. */
import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { asGatewayError } from '@gateway/shared/failures';
import type { NodeRequestClaimAnswer, NodeRequestClaimInput } from '@gateway/shared/node-api';
import type { Call } from './call.ts';
import { claimKey, fingerprinted, NodeClaims } from './claim.ts';
import type { ClaimOffice, ClaimParts } from './claim.ts';
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
    release: (requestId) => void releases.push(requestId),
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

const SELF = { nodeId: 'node-1', instanceId: 'process-1' };
const CLAIM = { ...CLAIMED, route: '/v1/messages', keyDigest: 'digest', requestId: 'request-1' };

/** Claims over a control plane of which a test says what it does. */
function claimsOver(control: Partial<ClaimParts['control']>, self: ClaimParts['self'] = () => SELF) {
  const asked: object[] = [];
  const claims = new NodeClaims({
    self,
    control: {
      claimRequest: (input: NodeRequestClaimInput) => {
        asked.push(input);
        return (
          control.claimRequest?.(input) ?? Promise.resolve({ state: 'CLAIMED', requestId: null, cost: null })
        );
      },
      releaseRequest: (input) => {
        asked.push(input);
        return control.releaseRequest?.(input) ?? Promise.resolve({ ok: true, userErrors: [] });
      },
    },
  });
  return { claims, asked };
}

it('before the node is registered there is no answer; then it asks as this process', async () => {
  let self: typeof SELF | undefined;
  const { claims, asked } = claimsOver({}, () => self);
  await expect(claims.claim(CLAIM)).rejects.toThrow('not registered yet');
  expect(asked).toEqual([]);
  self = SELF;
  await claims.claim(CLAIM);
  claims.release('request-1');
  await claims.drain(1_000);
  expect(asked).toEqual([
    { ...CLAIM, ...SELF },
    { nodeId: 'node-1', requestId: 'request-1' },
  ]);
});

it('a claim without an answer is given back until the control plane has heard it', async () => {
  let silent = 3;
  const { claims, asked } = claimsOver({
    claimRequest: async () => Promise.reject(new Error('no answer')),
    releaseRequest: async () => {
      if ((silent -= 1) >= 0) throw new Error('no answer');
      return { ok: true, userErrors: [] };
    },
  });
  await expect(claims.claim(CLAIM)).rejects.toThrow('no answer');
  await claims.drain(10_000);
  expect(asked.slice(1)).toEqual(Array(4).fill({ nodeId: 'node-1', requestId: 'request-1' }));
});

it('a release that never gets through holds up no other one', async () => {
  const heard = new Set<string>();
  const { claims } = claimsOver({
    releaseRequest: async ({ requestId }) => {
      if (requestId.startsWith('lost')) throw new Error('no answer');
      heard.add(requestId);
      return { ok: true, userErrors: [] };
    },
  });
  for (let at = 0; at < 20; at += 1) claims.release(`lost ${at}`);
  claims.release('other');
  await expect.poll(() => [...heard]).toEqual(['other']);
  await claims.drain(1);
});

it('no key is claimed while so many wait to be given back that this one might never be', async () => {
  let isAway = true;
  const { claims } = claimsOver({
    releaseRequest: async () => {
      if (isAway) throw new Error('no answer');
      return { ok: true, userErrors: [] };
    },
  });
  for (let at = 0; at < 10_000; at += 1) claims.release(`request ${at}`);
  await expect(claims.claim(CLAIM)).rejects.toThrow('too many keys');
  isAway = false;
  await claims.drain(10_000);
  expect(await claims.claim(CLAIM)).toMatchObject({ state: 'CLAIMED' });
});
