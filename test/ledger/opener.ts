/** A process for tests that opens the ledger of a folder, sends the result, and runs until it is killed. */
import { openLedger } from '../../data-plane/ledger/open-ledger.ts';
import { ControlDouble } from './control-double.ts';

const folder = process.argv[2] ?? '';
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const result = await openLedger({ folder, control: new ControlDouble({}), log }).then(
  ({ journalId }) => ({ journalId }),
  (error: unknown) => ({ refusal: error instanceof Error ? error.message : String(error) }),
);
process.send?.(result);
if ('refusal' in result) process.exit();
else setInterval(() => undefined, 1_000);
