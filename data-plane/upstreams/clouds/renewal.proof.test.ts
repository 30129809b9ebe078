/** Tokens and temporary keys of clouds that expire while requests run, by the real clock. */
import { describe, expect, it } from 'vitest';
import { startCloud } from '../../../test/cloud-node.ts';
import type { CloudKind } from '../../../test/cloud-node.ts';

const KINDS: CloudKind[] = [
  'Entra client secret',
  'Entra certificate',
  'Google service account',
  'Google workload identity',
  'AWS web identity',
];
/**
 * Life of a token in ms. A node renews such a token 1.8 s after it was fetched, or up to a second later: the
 * `Date` of a token service has no fractions.
 */
const LIFE_MS = 5_000;
/** Maximum number of tokens that are issued within one life. */
const ISSUED_PER_LIFE = 3;
const CLIENTS = 24;

describe.concurrent('tokens that expire under load', () => {
  it.each(KINDS)(
    'are renewed without a failed request by single requests (%s)',
    { timeout: 60_000 },
    async (kind) => {
      const cloud = await startCloud(kind, LIFE_MS);
      const failed: string[] = [];
      const client = async (): Promise<void> => {
        while (cloud.tokens.expired < 2) {
          const { status, text } = await cloud.call();
          if (status !== 200) failed.push(`${status} ${text}`);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      expect(failed).toEqual([]);
      const { issued, expired } = cloud.tokens;
      expect(issued).toBeLessThanOrEqual(expired + ISSUED_PER_LIFE);
      expect(cloud.requests()).toBeGreaterThan(issued * 4);
      await cloud.close();
    },
  );
});
