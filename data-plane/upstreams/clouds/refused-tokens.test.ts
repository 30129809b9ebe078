/** Token services that refuse for good: which upstreams and credentials get requests afterwards. */
import { afterEach, describe, expect, it } from 'vitest';
import { startCloud } from '../../../test/cloud-node.ts';
import type { CloudKind, CloudNode } from '../../../test/cloud-node.ts';
import { startUpstream } from '../../../test/upstream.ts';
import { CONSECUTIVE_FAILURES } from '../circuit.ts';

const LIFE_MS = 3_600_000;
/** A refused token is fetched again after this time. */
const RETRY_MS = 1_000;
const REFUSAL = { status: 403, chunks: ['{"error":"unauthorized_client"}'] };
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});

let cloud: CloudNode;
afterEach(() => cloud.close());

/** The statuses of requests that are sent together. */
async function callTogether(count: number): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => cloud.call()));
  return answers.map(({ status }) => status);
}

describe('the identity of a node', () => {
  const kinds: CloudKind[] = ['AWS web identity', 'Google workload identity'];
  it.each(kinds)(
    'that gets no token ejects its upstream, so that others get the traffic (%s)',
    async (kind) => {
      cloud = await startCloud(kind, LIFE_MS);
      const spare = await startUpstream(() => ({ chunks: [ANSWER] }));
      cloud.addSpare(spare.origin);
      cloud.tokens.refusal = REFUSAL;
      for (let count = 1; count <= CONSECUTIVE_FAILURES + 3; count += 1) {
        expect((await cloud.call()).status).toBe(200);
        cloud.clocks.monotonic += RETRY_MS;
      }
      const asked = { requests: CONSECUTIVE_FAILURES, failed: CONSECUTIVE_FAILURES };
      expect(cloud.health()).toMatchObject({ circuit: 'OPEN', ...asked });
      expect(cloud.tokenRequests()).toBe(CONSECUTIVE_FAILURES);
      await spare.close();
    },
  );
});

describe('a credential', () => {
  it('is not suspended by one refused token, however many requests wait for it', async () => {
    cloud = await startCloud('Entra client secret', LIFE_MS);
    cloud.clocks.stoppedAt = performance.now();
    cloud.tokens.refusal = REFUSAL;
    expect(await callTogether(10)).toEqual(Array(10).fill(502));
    // These meet the refusal that the node remembers for a second.
    expect(await callTogether(10)).toEqual(Array(10).fill(502));
    expect(cloud.tokenRequests()).toBe(1);
    cloud.tokens.refusal = undefined;
    cloud.clocks.monotonic += RETRY_MS;
    expect((await cloud.call()).status).toBe(200);
  });

  it('is suspended when a second token is refused', async () => {
    cloud = await startCloud('Entra client secret', LIFE_MS);
    cloud.tokens.refusal = REFUSAL;
    for (let count = 1; count <= 2; count += 1) {
      expect((await cloud.call()).status).toBe(502);
      cloud.clocks.monotonic += RETRY_MS;
    }
    cloud.tokens.refusal = undefined;
    expect((await cloud.call()).status).not.toBe(200);
    expect(cloud.tokenRequests()).toBe(2);
  });
});
