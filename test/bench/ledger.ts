/**
 * What the money of one request costs a node: hold, commit to a journal on a real disk, settle. Run it with
 * `npm run bench:ledger`; the control plane is a table in memory, whose CPU is counted in.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bank } from '../../data-plane/ledger/model/bank.ts';
import { keyOf, usageOf } from '../../data-plane/ledger/model/records.ts';
import { openLedger } from '../../data-plane/ledger/open-ledger.ts';
import type { OpenLedger } from '../../data-plane/ledger/open-ledger.ts';

const PRICE = 100n;
const WORKERS = 64;
const WARM_UP = 5_000;
const REQUESTS = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'gateway-ledger-'));
const bank = new Bank({ wallet_a: 10n ** 15n });
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const ledger = await openLedger({ folder, control: bank, log });
ledger.connect('node_1');
const waits: number[] = [];
let number = 0;

await spend(ledger, WARM_UP);
waits.length = 0;
const before = process.cpuUsage();
const startedAt = performance.now();
await spend(ledger, WARM_UP + REQUESTS);
while (ledger.usageBacklog > 0) {
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
}
const { user, system } = process.cpuUsage(before);
const seconds = (performance.now() - startedAt) / 1_000;
waits.sort((one, other) => one - other);
const at = (part: number): string => (waits[Math.floor(waits.length * part)] ?? 0).toFixed(2);
process.stdout.write(
  [
    '| hold + commit + settle | figure |',
    '|---|---|',
    `| CPU a request, µs | ${((user + system) / REQUESTS).toFixed(1)} |`,
    `| of these in the kernel, µs | ${(system / REQUESTS).toFixed(1)} |`,
    `| requests a second, ${WORKERS} at once | ${Math.round(REQUESTS / seconds)} |`,
    `| wait for the commit p50, p99, ms | ${at(0.5)}, ${at(0.99)} |`,
    `| reports to the control plane | ${bank.reports} |`,
    `| leases asked for | ${bank.requests} |`,
    '',
  ].join('\n'),
);
await ledger.close();
rmSync(folder, { recursive: true, force: true });

async function spend(from: OpenLedger, upTo: number): Promise<void> {
  const key = keyOf('wallet_a');
  const worker = async (): Promise<void> => {
    while (number < upTo) {
      number += 1;
      const id = `request_${number}`;
      const hold = await from.hold(key, PRICE);
      const committing = performance.now();
      await hold.commit(usageOf(id, PRICE));
      waits.push(performance.now() - committing);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
}
