/** A process that opens the ledger of a folder, says whether it may, and holds it until it is killed. */
import { openLedger } from '../open-ledger.ts';
import { Bank } from './bank.ts';

const folder = process.argv[2] ?? '';
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const said = await openLedger({ folder, control: new Bank({}), log }).then(
  ({ journalId }) => ({ journalId }),
  (error: unknown) => ({ refusal: error instanceof Error ? error.message : String(error) }),
);
process.send?.(said);
if ('refusal' in said) process.exit();
else setInterval(() => undefined, 1_000);
