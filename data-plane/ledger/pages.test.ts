/** Pages of a report keep all charges and their leases when the pages are filled and split. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChargeRecord, JournalRecord } from './journal-state.ts';
import { encodeFrame, readFrame } from './frames.ts';
import { pagedChargeOf, recordOf } from './lines.ts';
import { chargeOf } from '../../test/ledger/records.ts';
import { chargesIn, lastSeqOf, pageOf, payloadOf, splitPage } from './pages.ts';

const JOURNAL = 'journal_1';
/** Request ids, some of which contain a separator. */
const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(',\n', '"},\n{"', '\n', 'größe', '\\,'));
const charges = fc
  .array(fc.record({ name, leaseId: fc.constantFrom('lease_1', 'lease_2', 'löse "3",\n') }), { minLength: 1 })
  .map((all) => all.map(({ name: id, leaseId }, at) => chargeOf(id, BigInt(at), { leaseId, seq: at + 7 })));

/** The lease of each charge of a page. */
const leasesOf = ({ runs }: ReturnType<typeof pageOf>): string[] =>
  runs.flatMap(({ leaseId, count }) => Array.from({ length: count }, () => leaseId));

test('the pages and the frame of a group hold the same charges, with their leases', () => {
  const note = fc.constant<JournalRecord>({ type: 'refused', no: 3 });
  fc.assert(
    fc.property(charges, fc.array(fc.tuple(fc.nat(20), note)), (all, notes) => {
      const records: JournalRecord[] = [...all];
      for (const [at, record] of notes) records.splice(at, 0, record);
      const { texts, pages } = payloadOf(records);
      const frame = encodeFrame(4, texts);
      expect(pages.flatMap((page) => chargesIn(page, JOURNAL))).toEqual(all);
      expect(pages.flatMap(leasesOf)).toEqual(all.map(({ leaseId }) => leaseId));
      for (const page of pages) {
        expect(chargesIn(page, JOURNAL).map(({ seq }) => seq)).toEqual(
          Array.from({ length: page.count }, (_, at) => page.firstSeq + at),
        );
      }
      const reading = readFrame(frame, 0, 4);
      const lines = reading.kind === 'frame' ? reading.frame.lines : [];
      expect(lines.map((line) => recordOf(line, JOURNAL))).toEqual(records);
    }),
  );
});

test('number, lease and text of a charge are read from the start of its line', () => {
  fc.assert(
    fc.property(charges, (all) => {
      for (const { seq, leaseId, text } of all)
        expect(pagedChargeOf(text, JOURNAL)).toMatchObject({ seq, leaseId, text });
    }),
  );
  expect(pagedChargeOf('{"type":"refused","no":1}', JOURNAL)).toBeUndefined();
});

test('the text of a page is a list of JSON records with commas between them', () => {
  fc.assert(
    fc.property(charges, (all) => {
      const values: unknown = JSON.parse(`[${pageOf(all).text}]`);
      expect(values).toEqual(all.map(({ text }): unknown => JSON.parse(text)));
    }),
  );
});

test('a split page becomes two pages with the same charges and leases', () => {
  const split = charges
    .filter(({ length }) => length > 1)
    .chain((all) => fc.tuple(fc.constant(all), cutIn(all)));
  fc.assert(
    fc.property(split, ([all, at]) => {
      const [first, rest] = splitPage(pageOf(all), at);
      expect(first).toEqual(pageOf(all.slice(0, at)));
      expect(rest).toEqual(pageOf(all.slice(at)));
      expect(chargesIn(first, JOURNAL)).toEqual(all.slice(0, at));
      expect(chargesIn(rest, JOURNAL)).toEqual(all.slice(at));
      expect([lastSeqOf(first) + 1, lastSeqOf(rest)]).toEqual([rest.firstSeq, all.length + 6]);
    }),
  );
});

function cutIn(all: readonly ChargeRecord[]): fc.Arbitrary<number> {
  return fc.integer({ min: 1, max: all.length - 1 });
}
