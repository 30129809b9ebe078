import { expect, test } from 'vitest';
import { splitWorkerToken, workerToken, WORKERS_MAX } from './worker-token.ts';

test('the token of every worker names the token of its node', () => {
  for (let worker = 1; worker <= WORKERS_MAX; worker += 1)
    expect(splitWorkerToken(workerToken('gnt_abc', worker))).toEqual({ nodeToken: 'gnt_abc', worker });
});

test('a number that no worker has stays part of the token, which is then unknown', () => {
  for (const token of ['gnt_abc-0', 'gnt_abc-1', 'gnt_abc-129', 'gnt_abc-02', 'gnt_abc-', 'gqt_abc-2'])
    expect(splitWorkerToken(token)).toEqual({ nodeToken: token, worker: 1 });
});
