/** Upstreams without a credential that refuse requests themselves: they are left as failing ones are. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeKey, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';
import { REFUSED_WALLETS } from '../limits.ts';
import { CONSECUTIVE_FAILURES, EJECTION_MS } from '../upstreams/circuit.ts';

const QUESTION = { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] };
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});

let refusing: FakeUpstream;
let working: FakeUpstream;
let node: TestNode;
/** How far the node's clock is ahead of the real one, in ms. */
let aheadMs: number;
let secrets: string[];

beforeEach(async () => {
  aheadMs = 0;
  refusing = await startUpstream(() => ({ chunks: [ANSWER] }));
  working = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode({ now: () => performance.now() + aheadMs });
  node.store.routes = [refusing, working].map(({ origin }, index) =>
    makeRoute(origin, { route: { id: `route-${index}`, priority: index }, credentials: [] }),
  );
  secrets = Array.from({ length: REFUSED_WALLETS }, (_, index) => {
    const { secret, record } = makeKey({ id: `key-${index}`, walletId: `wallet-${index}` });
    node.store.keys.push(record);
    return secret;
  });
});
afterEach(async () => {
  await node.close();
  await Promise.all([refusing.close(), working.close()]);
});

/** Sends as many requests with these keys in turn, which are all answered. */
async function ask(times: number, keys = secrets.slice(0, 1)): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    const headers = { authorization: `Bearer ${keys[count % keys.length]}` };
    expect((await node.call({ body: QUESTION, headers })).status).toBe(200);
  }
}

const refuseWith = (status: number): void => {
  refusing.play = () => ({ status, chunks: ['{}'] });
};

describe('an upstream without a credential', () => {
  it('is left after several 401 in a row, and asked once when the ejection ends', async () => {
    refuseWith(401);
    await ask(CONSECUTIVE_FAILURES);
    expect(refusing.seen).toHaveLength(CONSECUTIVE_FAILURES);
    await ask(3);
    expect(refusing.seen).toHaveLength(CONSECUTIVE_FAILURES);
    aheadMs += EJECTION_MS * 1.2;
    refusing.play = () => ({ chunks: [ANSWER] });
    await ask(3);
    expect(refusing.seen).toHaveLength(CONSECUTIVE_FAILURES + 3);
    expect(working.seen).toHaveLength(CONSECUTIVE_FAILURES + 3);
  });

  it('is not left if it answers between the 401', async () => {
    refusing.play = (_request, count) =>
      count % 2 === 0 ? { status: 401, chunks: ['{}'] } : { chunks: [ANSWER] };
    await ask(2 * CONSECUTIVE_FAILURES);
    expect(refusing.seen).toHaveLength(2 * CONSECUTIVE_FAILURES);
  });

  it('is not left after 403 to requests of one customer: they may be about the content', async () => {
    refuseWith(403);
    await ask(CONSECUTIVE_FAILURES + 3);
    expect(refusing.seen).toHaveLength(CONSECUTIVE_FAILURES + 3);
  });

  it('is left on the route after several 403 in a row to requests of several customers', async () => {
    refuseWith(403);
    await ask(CONSECUTIVE_FAILURES, secrets);
    await ask(3);
    expect(refusing.seen).toHaveLength(CONSECUTIVE_FAILURES);
  });
});
