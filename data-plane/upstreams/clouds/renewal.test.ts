/** Tokens and temporary keys of clouds while their token service fails. The clock of the node is moved. */
import { describe, expect, it } from 'vitest';
import { startCloud } from '../../../test/cloud-node.ts';
import type { CloudKind, CloudNode } from '../../../test/cloud-node.ts';
import { until } from '../../../test/request-path.ts';

const MINUTE_MS = 60_000;
const LIFE_MS = 60 * MINUTE_MS;
const KINDS: CloudKind[] = [
  'Entra client secret',
  'Entra certificate',
  'Google service account',
  'Google workload identity',
  'AWS web identity',
];

/** The statuses of ten requests at once. */
async function callAll(cloud: CloudNode): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 10 }, () => cloud.call()));
  return answers.map(({ status }) => status);
}

describe.each(KINDS)('the token of %s', (kind) => {
  it('is fetched once for many requests, and renewed after failures before it expires', async () => {
    const cloud = await startCloud(kind, LIFE_MS);
    try {
      const answered = Array(10).fill(200);
      expect(await callAll(cloud)).toEqual(answered);
      const steps = cloud.tokenRequests();
      expect(steps).toBe(kind === 'Google workload identity' ? 2 : 1);
      cloud.tokens.refusal = { status: 503, chunks: ['{}'] };
      cloud.clocks.monotonic = 56 * MINUTE_MS;
      for (let failed = 1; failed <= 2; failed += 1) {
        expect(await callAll(cloud)).toEqual(answered);
        // The same upstream is named in the log once a minute.
        await until(() => cloud.logged().split('gave no token: 503').length === failed + 1);
        cloud.clocks.monotonic += MINUTE_MS;
      }
      cloud.tokens.refusal = undefined;
      expect(await callAll(cloud)).toEqual(answered);
      await until(() => cloud.tokens.issued === 2);
      cloud.clocks.monotonic = 70 * MINUTE_MS;
      expect(await callAll(cloud)).toEqual(answered);
      expect(cloud.tokenRequests()).toBe(2 * steps + 2);
    } finally {
      await cloud.close();
    }
  });

  it('is asked for once a second at most while its service fails, and works afterwards', async () => {
    const cloud = await startCloud(kind, LIFE_MS);
    try {
      cloud.tokens.refusal = { status: 503, chunks: ['{}'] };
      expect(await callAll(cloud)).not.toContain(200);
      expect(await callAll(cloud)).not.toContain(200);
      expect(cloud.tokenRequests()).toBe(1);
      expect(cloud.requests()).toBe(0);
      cloud.tokens.refusal = undefined;
      // The upstream is ejected after these failures.
      cloud.clocks.monotonic += 10 * MINUTE_MS;
      expect((await cloud.call()).status).toBe(200);
      expect(await callAll(cloud)).toEqual(Array(10).fill(200));
    } finally {
      await cloud.close();
    }
  });
});
