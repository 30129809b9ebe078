import { expect, it } from 'vitest';
import { heaviest } from './profile.ts';

const node = (id: number, functionName: string, url = '') => ({
  id,
  callFrame: { functionName, url, scriptId: '1', lineNumber: 4, columnNumber: 0 },
});

it('a profile lists functions by their own time, heaviest first, without idle time', () => {
  const profile = {
    nodes: [
      node(1, '(idle)'),
      node(2, 'send', 'file:///x/http/server.ts'),
      node(3, 'parse'),
      node(4, 'parse'),
    ],
    samples: [1, 2, 3, 4],
    timeDeltas: [1_000, 10, 20, 10],
    startTime: 0,
    endTime: 1_040,
  };
  expect(heaviest(profile)).toEqual([
    { name: 'parse', percent: 75 },
    { name: 'send http/server.ts:5', percent: 25 },
  ]);
});
