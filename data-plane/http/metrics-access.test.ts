/** Tests which callers may read the metrics of a node. */
import { afterEach, expect, it } from 'vitest';
import { startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';

let node: TestNode;
afterEach(() => node.close());

const statusOf = async (headers: Record<string, string> = {}): Promise<number> =>
  (await node.call({ path: '/metrics', method: 'GET', headers: { authorization: '', ...headers } })).status;

it('metrics are served to local peers, and not to anyone behind a proxy', async () => {
  node = await startNode();
  expect(await statusOf()).toBe(200);
  expect(await statusOf({ 'x-forwarded-for': '10.0.0.1' })).toBe(404);
  expect(await statusOf({ forwarded: 'for=10.0.0.1' })).toBe(404);
});

it('metrics are served to callers with the token, and refused to callers with another one', async () => {
  node = await startNode({ settings: { metricsToken: 'secret' } });
  const forwarded = { 'x-forwarded-for': '192.0.2.1' };
  expect(await statusOf({ ...forwarded, authorization: 'Bearer secret' })).toBe(200);
  expect(await statusOf({ ...forwarded, authorization: 'Bearer secrets' })).toBe(404);
  expect(await statusOf({ authorization: 'Bearer other' })).toBe(404);
  expect(await statusOf()).toBe(200);
});
