/**
 * The control plane of `npm run bench:ledger`: accounts in memory behind the real protocol, in a separate
 * process, so that its CPU time is not counted.
 */
import { createServer } from 'node:http';
import type { NodeUsageRecordInput } from '@gateway/shared/usage-report';
import { ControlDouble } from '../ledger/control-double.ts';

/** Counts of the node's requests so far, the answer to `GET /`. */
export interface BankCounts {
  reports: number;
  leases: number;
  charges: number;
}

interface Report {
  records: NodeUsageRecordInput[];
}

const bank = new ControlDouble({ wallet_a: 10n ** 15n });

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    void answer(Buffer.concat(parts).toString()).then((body) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
});

async function answer(body: string): Promise<object> {
  if (body === '') {
    const { reports, requests, charges } = bank;
    return { reports, leases: requests, charges: charges.size } satisfies BankCounts;
  }
  const { query, variables } = JSON.parse(body) as { query: string; variables: { input: never } };
  if (query.includes('nodeUsageReport(')) {
    return { data: { nodeUsageReport: await bank.takeUsage((variables.input as Report).records) } };
  }
  if (query.includes('nodeLeaseRequest(')) {
    return { data: { nodeLeaseRequest: await bank.requestLease(variables.input) } };
  }
  return { data: { nodeLeaseClose: await bank.closeLease(variables.input) } };
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.({ type: 'ready', port: address.port });
});
process.on('disconnect', () => process.exit(0));
