/** Encoding of downloads as addresses, and of tables as CSV. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { downloadPath, readDownload } from './address.ts';
import type { LedgerKind } from '../wallet/wallet.types.ts';
import type { Download } from './address.ts';
import { headerOf, linesOf } from './csv.ts';

const texts = fc.array(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 3 });
const some = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
const range = some(
  fc
    .tuple(fc.integer({ min: 0, max: 2e12 }), fc.integer({ min: 1, max: 1e9 }))
    .map(([from, length]) => ({ from: new Date(from), to: new Date(from + length) })),
);
const format = fc.constantFrom('csv', 'jsonl') as fc.Arbitrary<Download['format']>;
const userId = fc.constantFrom(undefined, null, 'usr_1');

const downloads: fc.Arbitrary<Download> = fc.oneof(
  fc.record({
    table: fc.constant('usage' as const),
    format,
    userId,
    range,
    kinds: fc.constant(null),
    usage: fc.record({
      modelNames: some(texts),
      keyIds: some(texts),
      poolIds: some(texts),
      sources: some(fc.constant(['API_KEY' as const, 'PLAYGROUND' as const])),
      statuses: some(fc.constant(['FAILED' as const])),
      requestId: some(fc.string({ minLength: 1 })),
      ip: some(fc.ipV4()),
      minCost: some(fc.bigInt({ min: 1n, max: 1_000_000n })),
    }),
  }),
  fc.record({
    table: fc.constant('ledger' as const),
    format,
    userId,
    range,
    kinds: some(fc.constantFrom<LedgerKind[]>(['USAGE'], ['USAGE', 'REFUND'])),
    usage: fc.constant({}),
  }),
);

const read = (address: string): Download | undefined => {
  const url = new URL(address, 'http://localhost');
  return readDownload(url.pathname.replace('/export/', ''), url.searchParams);
};

describe('the address of a download', () => {
  it('is decoded to the same download, with every filter', () => {
    fc.assert(
      fc.property(downloads, (download) => {
        expect(read(downloadPath(download))).toEqual(download);
      }),
    );
  });

  it.each([
    'status=GREAT',
    'from=yesterday',
    'from=2026-02-01&to=2026-01-01',
    'minCost=-1',
    'requst=1',
    'request=a&request=b',
    'model=',
    'kind=USAGE',
  ])('is refused with the unknown or invalid parameter in %s', (query) => {
    expect(() => read(`/export/usage.csv?${query}`)).toThrow(/The parameter/);
  });

  it('is undefined for another table or format', () => {
    expect(read('/export/users.csv')).toBeUndefined();
    expect(read('/export/usage.xlsx')).toBeUndefined();
  });
});

describe('a table as CSV', () => {
  const columns = [
    { name: 'text', value: (row: { text: string; amount: string }) => row.text },
    { name: 'amount', value: (row: { text: string; amount: string }) => row.amount },
  ];
  const lineOf = (text: string, amount = '-0.25'): string => linesOf(columns, [{ text, amount }], 'csv');

  it('contains no formula for spreadsheets, and keeps numbers', () => {
    for (const start of ['=', '+', '-', '@', '\t', '\r'])
      expect(lineOf(`${start}cmd|' /C calc'!A0`)).toMatch(/^"?'[=+\-@\t\r]/);
    expect(lineOf('-12')).toBe('-12,-0.25\r\n');
  });

  it('is parsed back to the same cells, whatever their content', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (cells) => {
        const text = headerOf(columns, 'csv') + cells.map((cell) => lineOf(cell, '1')).join('');
        const back = parseCsv(text)
          .slice(1)
          .map(([cell = '']) => cell);
        expect(back.map((cell, at) => (cell === `'${cells[at]}` ? cells[at] : cell))).toEqual(cells);
      }),
    );
  });
});

/** A parser of RFC 4180, independent of the code under test. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
