import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { SAMPLES, chargeFaults, enduranceTable, growthOf, progressLine } from './endurance-figures.ts';
import type { Charges, Sample } from './endurance-figures.ts';
import { DIALECTS } from './requests/formats.ts';
import { runLongLoad } from './requests/load.ts';

const MB = 1_048_576;
const sample = (at: number, more: Partial<Sample> = {}): Sample => ({
  ...{ answered: at * 1_000, seconds: at, node: 100 * MB, nodeHeap: 40 * MB, control: 200 * MB },
  ...{ controlHeap: 80 * MB, postgres: 300 * MB, backlog: 0, ...more },
});
const CHARGES: Charges = { rows: 10, charges: 10, charged: 300, revenue: 300, balance: 0 };

it('growth compares the median of the last fifth with that of the second', () => {
  const samples = Array.from({ length: SAMPLES }, (_, at) =>
    sample(at, { node: at < 20 ? MB : at < 80 ? 100 * MB : 150 * MB, postgres: at === 90 ? 999 * MB : MB }),
  );
  expect(growthOf(samples)).toEqual([
    { process: 'node', second: 100 * MB, last: 150 * MB },
    { process: 'control plane', second: 200 * MB, last: 200 * MB },
    { process: 'PostgreSQL', second: MB, last: MB },
  ]);
  const unread = samples.map((one) => ({ ...one, postgres: undefined }));
  expect(growthOf(unread).map(({ process }) => process)).toEqual(['node', 'control plane']);
});

it('each answer must have one charge and one usage row, and the ledger the same sum', () => {
  const run = { answers: 10, failures: 0 };
  expect(chargeFaults(CHARGES, run)).toEqual([]);
  expect(chargeFaults({ ...CHARGES, charges: 9 }, run)).toEqual(['10 answers, but 9 charges']);
  expect(chargeFaults({ ...CHARGES, rows: 11 }, run)).toEqual(['10 answers, but 11 rows of the usage log']);
  expect(chargeFaults({ ...CHARGES, rows: 11 }, { answers: 10, failures: 1 })).toEqual([]);
  expect(chargeFaults({ ...CHARGES, revenue: 270 }, run)).toHaveLength(1);
  expect(chargeFaults({ ...CHARGES, balance: 1 }, run)).toHaveLength(1);
});

it('a line has the rate since the line before, and the table names what is wrong', () => {
  expect(progressLine(sample(1), sample(3, { answered: 5_000 }))).toBe(
    '5000 answers, 2000 a second; node 100 MB (heap 40); control plane 200 MB (heap 80); ' +
      'PostgreSQL 300 MB; 0 charges wait',
  );
  const growth = [{ process: 'node', second: 100 * MB, last: 102 * MB }];
  const figures = { requests: 10, growth, charges: CHARGES, samples: [] };
  const table = enduranceTable({ ...figures, failures: ['reset'], faults: ['a charge is missing'] });
  expect(table).toContain('| node | 100 | 102 | 2.0 |');
  expect(table).toContain('failed requests: 1; the first one: reset');
  expect(table).toContain('WRONG: a charge is missing');
});

it('a long load sends failed requests again, so that it ends with the number of answers', async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume();
    asked += 1;
    response.statusCode = asked % 10 === 0 ? 503 : 200;
    response.end(JSON.stringify(DIALECTS.chat.whole));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const question = { model: 'budget', stream: false, turns: ['Hi'], tools: 0 };
  const counts: number[] = [];
  const onAnswer = (answered: number): unknown => counts.push(answered);
  const load = { requests: 95, atOnce: 8, perSecond: 10_000, onAnswer };
  const target = { name: 'test', url, keys: ['one'] };
  const failures = await runLongLoad(target, { client: 'chat', question }, load);
  expect(counts).toEqual(Array.from({ length: 95 }, (_, at) => at + 1));
  expect(failures).toHaveLength(asked - 95);
  expect(failures[0]).toContain('503');
  server.close();
});
