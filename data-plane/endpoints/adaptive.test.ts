/** Routing by speed over real sockets: four upstreams, of which one is slow. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const HEAD = { id: 'c1', object: 'chat.completion.chunk', model: 'm' };
const event = (choice: object): string =>
  `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, ...choice }] })}\n\n`;
/** Two chunks: the gap between them comes before the first content. */
const CHUNKS = [
  event({ delta: { role: 'assistant' } }),
  `${event({ delta: { content: 'Hi' } })}${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`,
];
const SLOW = 'slow';
const WAVES = 6;
const WAVE = 10;

let upstreams: FakeUpstream[];
let node: TestNode;

beforeAll(async () => {
  const headers = { 'content-type': 'text/event-stream' };
  upstreams = await Promise.all(
    ['one', 'two', 'three', SLOW].map((name) =>
      startUpstream(() => ({ headers, chunks: CHUNKS, gapMs: name === SLOW ? 500 : 1 })),
    ),
  );
  node = await startNode();
});
afterAll(async () => {
  await Promise.all([node.close(), ...upstreams.map((upstream) => upstream.close())]);
});

/** Sends waves of requests; returns the number of those that the slow upstream got after the first wave. */
async function slowRequests(policy: 'FASTEST' | undefined): Promise<number> {
  node.store.routes = upstreams.map(({ origin }, index) => ({
    ...makeRoute(origin, { route: { id: `${policy} ${index}` } }),
    ...(policy && { policy }),
  }));
  const slow = upstreams.at(-1);
  for (let wave = 0; wave < WAVES; wave += 1) {
    if (wave === 1 && slow) slow.seen = [];
    const answers = await Promise.all(
      Array.from({ length: WAVE }, (_, index) =>
        node.call({
          body: { model: 'swift', stream: true, messages: [{ role: 'user', content: `${wave} ${index}` }] },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  return slow?.seen.length ?? 0;
}

describe('a slow upstream of four', () => {
  it('gets its share with fixed shares, and nearly nothing if the fastest is chosen', async () => {
    expect(await slowRequests(undefined)).toBeGreaterThan(4);
    expect(await slowRequests('FASTEST')).toBeLessThan(3);
  });
});
