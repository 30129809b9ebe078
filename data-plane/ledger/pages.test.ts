/** Pages say what their charges say, however they came to be and wherever they are split. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChargeRecord, JournalRecord } from './book.ts';
import { encodeFrame, readFrame } from './frames.ts';
import { pagedChargeOf, recordOf } from './lines.ts';
import { chargeOf } from './model/records.ts';
import { chargesIn, lastSeqOf, pageOf, payloadOf, splitPage } from './pages.ts';

const JOURNAL = 'journal_1';
/** A name as a client might have sent it, in which a separator may stand. */
const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(',\n', '"},\n{"', '\n', 'größe', '\\,'));
const charges = fc
  .array(fc.record({ name, leaseId: fc.constantFrom('lease_1', 'lease_2', 'löse "3",\n') }), { minLength: 1 })
  .map((all) => all.map(({ name: id, leaseId }, at) => chargeOf(id, BigInt(at), { leaseId, seq: at + 7 })));

/** Which lease each charge of a page is counted for. */
const leasesOf = ({ runs }: ReturnType<typeof pageOf>): string[] =>
  runs.flatMap(({ leaseId, count }) => Array.from({ length: count }, () => leaseId));

test('the charges of a group stand in its pages and in its frame, and are counted for their leases', () => {
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

test('what a report needs of a charge is read from its line, as from the whole record', () => {
  fc.assert(
    fc.property(charges, (all) => {
      for (const { seq, leaseId, text } of all)
        expect(pagedChargeOf(text, JOURNAL)).toMatchObject({ seq, leaseId, text });
    }),
  );
  expect(pagedChargeOf('{"type":"refused","no":1}', JOURNAL)).toBeUndefined();
});

test('a page is JSON with commas between its records', () => {
  fc.assert(
    fc.property(charges, (all) => {
      const values: unknown = JSON.parse(`[${pageOf(all).text}]`);
      expect(values).toEqual(all.map(({ text }): unknown => JSON.parse(text)));
    }),
  );
});

test('a page that is split is two that hold the same charges, each with its own', () => {
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
