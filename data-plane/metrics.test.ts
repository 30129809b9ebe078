/** The metrics of a node's state. */
import { describe, expect, it } from 'vitest';
import { Metrics } from './metrics.ts';
import type { Vitals } from './metrics.ts';

describe('the metrics of a node', () => {
  it('show charges, journal, usage and configuration at the moment of the scrape', async () => {
    const vitals: Vitals = {
      revision: 7,
      confirmedAt: 1_760_000_000_000,
      leaving: false,
      journalWritable: true,
      usageBacklog: 3,
      usageDropped: 2,
      leases: 4,
      charges: 5,
      chargedMicros: 1_250_000n,
      quarantined: 1,
      unreadableCredentials: 2,
      skippedRecords: 3,
    };
    const { registry } = new Metrics(() => vitals);
    const read = async (): Promise<string[]> => (await registry.metrics()).split('\n');
    expect(await read()).toEqual(
      expect.arrayContaining([
        'gateway_config_revision 7',
        'gateway_config_confirmed_timestamp_seconds 1760000000',
        'gateway_credentials_unreadable 2',
        'gateway_upstream_records_skipped 3',
        'gateway_journal_writable 1',
        'gateway_usage_backlog 3',
        'gateway_usage_dropped_total 2',
        'gateway_charges_quarantined 1',
        'gateway_leases 4',
        'gateway_charges_total 5',
        'gateway_charged_usd_total 1.25',
      ]),
    );
    Object.assign(vitals, { journalWritable: false, charges: 6 });
    expect(await read()).toEqual(
      expect.arrayContaining(['gateway_journal_writable 0', 'gateway_charges_total 6']),
    );
  });
});
