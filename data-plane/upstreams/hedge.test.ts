/** The race of two attempts, with attempts that are functions. */
import { expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { makeRoute } from '../../test/request-path.ts';
import { Cut } from '../call/cut.ts';
import type { Attempt, Candidate } from './attempt.ts';
import { Hedges } from './hedge.ts';

/** Answers that must be known before a second upstream is asked. */
const WARM = 24;
/** Time that the second attempt takes to end after the cut, in ms. */
const END_MS = 50;

it('ends a cut request only after both attempts have ended', async () => {
  const hedges = new Hedges(() => performance.now());
  const { route, provider } = makeRoute('http://127.0.0.1:1');
  const candidate = { route, provider } as Candidate;
  const attempt: Attempt = {
    ...{ candidate, walletId: 'wal_1', model: 'model-1' },
    ...{ startedAt: performance.now(), observer: undefined },
  };
  const request = {
    ...{ attempt, isStreamed: false, spare: () => candidate },
    ...{ decided: () => undefined, lost: () => undefined },
  };
  for (let known = 0; known < WARM; known += 1)
    await hedges.ask({ ...request, cut: new Cut(), perform: async () => 'answer' });
  const cut = new Cut();
  const ended: string[] = [];
  const perform = (one: Attempt, own: Cut): Promise<string> =>
    new Promise((_, reject) => {
      const isSecond = one !== attempt;
      own.onCut({
        abort: (reason) => {
          setTimeout(
            () => {
              ended.push(isSecond ? 'second' : 'first');
              reject(reason);
            },
            isSecond ? END_MS : 0,
          );
        },
      });
      if (isSecond) cut.trigger(new GatewayError('client_closed', 'The client left.'));
    });
  await expect(hedges.ask({ ...request, cut, perform })).rejects.toMatchObject({ code: 'client_closed' });
  expect(ended).toEqual(['first', 'second']);
});
