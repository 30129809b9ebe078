/** A process for tests that appends charges without pause and prints each durable one, until it is killed. */
import { realDisk } from '../../data-plane/ledger/disk.ts';
import { openJournal } from '../../data-plane/ledger/journal.ts';
import { chargeOf, requestedRecord } from './records.ts';

const folder = process.argv[2] ?? '';
const log = { warn: () => undefined };
const journal = await openJournal({
  folder,
  disk: realDisk,
  newId: () => 'journal_1',
  log,
  segmentBytes: 100_000,
});
journal.appendInBackground(requestedRecord(1));
journal.appendInBackground({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000000' });

for (let number = 1; ; number += 4) {
  const ids = [0, 1, 2, 3].map((more) => `request_${number + more}`);
  await Promise.all(
    ids.map(async (id) => {
      await journal.append(chargeOf(id, 1n, { leaseId: 'lease_1', seq: journal.nextSeq }));
      process.stdout.write(`${id}\n`);
    }),
  );
}
