/** A wrong clock of a node: who is told, and what. The stand-ins of the clouds allow five minutes. */
import { afterEach, describe, expect, it } from 'vitest';
import { awsRefusal, startCloud } from '../../../test/cloud-node.ts';
import type { CloudKind, CloudNode } from '../../../test/cloud-node.ts';
import { until } from '../../../test/request-path.ts';
import type { CallResult } from '../../../test/request-path.ts';

const LIFE_MS = 3_600_000;
/** A little more, because the clouds compare it with the time when a request arrives. */
const FIVE_MINUTES_MS = 304_000;
const REVEALING = /clock|time|signature|token|jwt|aws|google|entra|127\.0\.0\.1/i;

let cloud: CloudNode;
afterEach(() => cloud.close());

/** Starts the cloud with a node whose clock is ahead by so many ms. */
async function start(kind: CloudKind, aheadMs: number): Promise<CallResult> {
  cloud = await startCloud(kind, LIFE_MS);
  cloud.clocks.wall = aheadMs;
  return cloud.call();
}

function expectNamed({ status, text }: CallResult, aheadMs: number): void {
  expect(status).toBe(502);
  expect(text).toContain('The upstream could not answer. Try again');
  expect(text).not.toMatch(REVEALING);
  const way = aheadMs > 0 ? 'ahead of' : 'behind';
  const sentence = new RegExp(
    `The clock of this machine differs by (30|60)\\d s: it is ${way} the clock of 127.0.0.1`,
  );
  expect(cloud.logged()).toMatch(sentence);
  expect(Math.abs((cloud.health()?.clockAheadMs ?? 0) - aheadMs)).toBeLessThanOrEqual(2_000);
  expect(cloud.health()).toMatchObject({ refused: 1, circuit: 'CLOSED' });
}

describe('a clock that is five minutes off', () => {
  it.each([FIVE_MINUTES_MS, -FIVE_MINUTES_MS])(
    'is named in log and health when AWS refuses a signature, until it is corrected (%i ms)',
    async (aheadMs) => {
      expectNamed(await start('AWS access keys', aheadMs), aheadMs);
      cloud.clocks.wall = 0;
      expect((await cloud.call()).status).toBe(200);
      expect(cloud.health()?.clockAheadMs).toBeNull();
    },
  );

  it('is named, and hidden from the client, when AWS refuses an old request with 400', async () => {
    cloud = await startCloud('AWS access keys', LIFE_MS);
    cloud.clocks.wall = -FIVE_MINUTES_MS;
    cloud.refusal = awsRefusal('RequestExpired', 'Request has expired.', 400);
    expectNamed(await cloud.call(), -FIVE_MINUTES_MS);
  });

  it('is named when AWS writes the code of an old request into the body', async () => {
    cloud = await startCloud('AWS access keys', LIFE_MS);
    cloud.clocks.wall = -FIVE_MINUTES_MS;
    const body = { __type: 'com.amazon.coral.service#RequestExpired', message: 'Request has expired.' };
    cloud.refusal = { status: 400, chunks: [JSON.stringify(body)] };
    expectNamed(await cloud.call(), -FIVE_MINUTES_MS);
  });

  it('is not named, and the credential stays, when a wrong request quotes such a refusal', async () => {
    cloud = await startCloud('AWS access keys', LIFE_MS);
    cloud.clocks.wall = -120_000;
    const reason = 'Unknown tool "RequestExpired: Signature expired".';
    cloud.refusal = awsRefusal('ValidationException', reason, 400);
    for (let count = 0; count < 3; count += 1) expect((await cloud.call()).status).toBe(400);
    expect(cloud.logged()).not.toContain('clock');
    cloud.refusal = undefined;
    expect((await cloud.call()).status).toBe(200);
    expect(cloud.health()).toMatchObject({ requests: 1, refused: 0 });
  });

  it('is not named when AWS refuses for another reason', async () => {
    cloud = await startCloud('AWS access keys', LIFE_MS);
    cloud.clocks.wall = 120_000;
    const reason = 'The security token included in the request is invalid.';
    cloud.refusal = awsRefusal('UnrecognizedClientException', reason);
    expect((await cloud.call()).status).toBe(502);
    expect(cloud.logged()).not.toContain('clock');
    expect(cloud.health()).toMatchObject({ refused: 1, clockAheadMs: null });
  });

  it('is named when AWS refuses the signature with keys of a web identity', async () => {
    expectNamed(await start('AWS web identity', FIVE_MINUTES_MS), FIVE_MINUTES_MS);
  });

  it.each([FIVE_MINUTES_MS, -FIVE_MINUTES_MS])(
    'is named when Google refuses the signed assertion of a service account, until it is corrected (%i ms)',
    async (aheadMs) => {
      expectNamed(await start('Google service account', aheadMs), aheadMs);
      expect(cloud.logged()).toContain('gave no token: 400 invalid_grant.');
      cloud.clocks.wall = 0;
      cloud.clocks.monotonic = 1_000;
      expect((await cloud.call()).status).toBe(200);
      expect(cloud.health()?.clockAheadMs).toBeNull();
    },
  );

  it('is named when Google refuses a renewal while the present token is still valid', async () => {
    cloud = await startCloud('Google service account', LIFE_MS);
    expect((await cloud.call()).status).toBe(200);
    cloud.clocks.wall = FIVE_MINUTES_MS;
    cloud.clocks.monotonic = LIFE_MS - 60_000;
    expect((await cloud.call()).status).toBe(200);
    await until(() => cloud.logged().includes('The clock of this machine differs'));
    expect((await cloud.call()).status).toBe(200);
    expect(cloud.health()?.clockAheadMs).toBeGreaterThan(FIVE_MINUTES_MS - 2_000);
    cloud.clocks.wall = 0;
    cloud.clocks.monotonic += 1_000;
    expect((await cloud.call()).status).toBe(200);
    await until(() => cloud.health()?.clockAheadMs === null);
  });

  it.each([FIVE_MINUTES_MS, -2 * FIVE_MINUTES_MS])(
    'is named when Entra refuses the assertion of a certificate, until it is corrected (%i ms)',
    async (aheadMs) => {
      expectNamed(await start('Entra certificate', aheadMs), aheadMs);
      expect(cloud.logged()).toContain('gave no token: 401 invalid_client (AADSTS700024).');
      cloud.clocks.wall = 0;
      cloud.clocks.monotonic = 1_000;
      expect((await cloud.call()).status).toBe(200);
      expect(cloud.health()?.clockAheadMs).toBeNull();
    },
  );

  it('is not named when Entra refuses the secret', async () => {
    cloud = await startCloud('Entra client secret', LIFE_MS);
    cloud.clocks.wall = FIVE_MINUTES_MS;
    const body = { error: 'invalid_client', error_codes: [7_000_215] };
    cloud.tokens.refusal = { status: 401, chunks: [JSON.stringify(body)] };
    expect((await cloud.call()).status).toBe(502);
    expect(cloud.logged()).toMatch(/gave no token: 401 invalid_client \(AADSTS7000215\)\."/);
    expect(cloud.health()).toMatchObject({ refused: 1, clockAheadMs: null });
  });

  it.each(['Entra client secret', 'Google workload identity'] as const)(
    'does not matter to %s, whose requests carry no time',
    async (kind) => {
      expect((await start(kind, FIVE_MINUTES_MS)).status).toBe(200);
      cloud.clocks.monotonic = LIFE_MS;
      expect((await cloud.call()).status).toBe(200);
      expect(cloud.tokens.issued).toBe(2);
    },
  );
});
