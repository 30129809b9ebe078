/** Formats the figures of one wallet as a Markdown table. */
import type { WalletFigures } from './wallet.ts';

/**
 * One wallet over two nodes, one line per figure. The commits include those of leases and settlement.
 */
export function walletTable(figures: WalletFigures): string {
  const { database, answered, seconds } = figures;
  const rate = figures.answeredPerSecond.toFixed(0);
  const perThousand = (count: number): string => ((count / answered) * 1_000).toFixed(1);
  const both = (p50: number, p99: number): string => `${p50.toFixed(2)}, ${p99.toFixed(2)}`;
  const refusals = Object.entries(figures.refused).map(([status, count]) => `${count} × ${status}`);
  const beyondIdle = database.transactions - figures.idleTransactionsPerSecond * seconds;
  const lines: [string, string][] = [
    ['requests a second, offered; answered', `${figures.offeredPerSecond}; ${rate}`],
    ['answered and charged; refused', `${answered}; ${refusals.join(', ') || 'none'}`],
    ['answer p50, p99 ms', both(figures.answerP50Ms, figures.answerP99Ms)],
    ['wait for the commit p50, p99 ms', both(figures.commitP50Ms, figures.commitP99Ms)],
    ['leases granted since the first request', String(figures.leasesInAll)],
    ['leases granted per 1,000 requests', perThousand(database.leasesGranted)],
    ['settlement batches per 1,000 requests', perThousand(database.settlementBatches)],
    ['ledger transactions per 1,000 requests', perThousand(database.ledgerTransactions)],
    ['commits of PostgreSQL beyond its idle rate, per 1,000 requests', perThousand(beyondIdle)],
  ];
  const head = ['| one wallet, two nodes | measured |', '|---|---|'];
  return [...head, ...lines.map(([name, value]) => `| ${name} | ${value} |`)].join('\n');
}
