/** Usage reports over a real socket: the message, and the result of each kind of answer. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { usageText } from '@gateway/shared/usage-report';
import { ControlAddresses } from './addresses.ts';
import { ControlError } from './error.ts';
import { usageOf } from '../../test/ledger/records.ts';
import { sendReport } from './report-usage.ts';
import type { ReportTarget } from './report-usage.ts';

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface ReceivedRequest {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  bytes: number;
  body: { query: string; variables: { input: { nodeId: string; batchId: string; records: object[] } } };
}

/** A control plane with a fixed answer, or none if undefined. If `ends` is false, the answer never ends. */
async function startControlPlane(
  answer: string | undefined,
  ends = true,
): Promise<{ target: ReportTarget; received: ReceivedRequest[] }> {
  const received: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method, headers } = request;
      const whole = Buffer.concat(parts);
      const bytes = whole.length;
      received.push({
        method,
        headers,
        bytes,
        body: JSON.parse(whole.toString()) as ReceivedRequest['body'],
      });
      if (answer !== undefined && ends) response.end(answer);
      else if (answer !== undefined) response.write(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const addresses = new ControlAddresses([`http://127.0.0.1:${port}/graphql`]);
  return {
    target: { addresses, token: 'gnt_test', timeoutMs: ends && answer !== undefined ? 10_000 : 100 },
    received,
  };
}

const usage = { ...usageOf('request_1', 250_000n), model: 'größe "m"\n' };
const place = { journalId: 'journal_1', seq: 7, leaseId: 'lease_1' };
const pieces = [`${usageText(usage, place)},\n${usageText(usage)}`, usageText(usage)];
const report = { nodeId: 'node_1', batchId: 'batch_1', pieces };
const done = { accepted: 2, duplicates: 0, rejected: [], userErrors: [] };
const tooMany = { code: 'LIMIT_REACHED', message: 'no' };

test('a report is a GraphQL mutation of the node, with its records in the form of the API', async () => {
  const { target, received } = await startControlPlane(JSON.stringify({ data: { nodeUsageReport: done } }));
  expect(await sendReport(target, report)).toEqual(done);
  const [{ method, headers, bytes, body }] = received as [ReceivedRequest];
  expect(method).toBe('POST');
  expect(headers).toMatchObject({
    authorization: 'Bearer gnt_test',
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json',
    'content-length': String(bytes),
  });
  expect(body.query).toContain('mutation NodeUsageReport($input: NodeUsageReportInput!)');
  const { records, ...names } = body.variables.input;
  expect(names).toEqual({ nodeId: 'node_1', batchId: 'batch_1' });
  const free = {
    requestId: 'request_1',
    at: '2026-11-18T11:06:40.000Z',
    modelName: 'größe "m"\n',
    family: 'CHAT_COMPLETIONS',
    group: 'DEFAULT',
    cost: '0.25',
    inputTokens: 1,
    ttftMs: 1,
  };
  expect(records).toEqual([
    expect.objectContaining({ ...free, journalId: 'journal_1', seq: '7', leaseId: 'lease_1' }),
    expect.objectContaining(free),
    expect.objectContaining(free),
  ]);
  for (const each of records.slice(1)) expect(each).not.toHaveProperty('journalId');
});

test.each([
  [
    'an error with a code',
    '{"errors":[{"message":"no","extensions":{"code":"UNAUTHENTICATED"}}]}',
    'UNAUTHENTICATED',
  ],
  ['an error whose code is not a string', '{"errors":[{"message":"no","extensions":{"code":7}}]}'],
  ['data and an error', `{"data":{"nodeUsageReport":${JSON.stringify(done)}},"errors":[{"message":"no"}]}`],
  [
    'a refusalError',
    `{"data":{"nodeUsageReport":${JSON.stringify({ ...done, userErrors: [tooMany] })}}}`,
    'LIMIT_REACHED',
  ],
  ['an empty object', '{}'],
  ['no JSON', 'Bad Gateway'],
  ['no answer', undefined],
])('a report with the answer "%s" is rejected', async (_name, answer, code?: string) => {
  const { target } = await startControlPlane(answer);
  const failure = await sendReport(target, report).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ControlError);
  expect(failure).toMatchObject({ code, message: expect.not.stringContaining('gnt_test') });
});

test('a usage record has its base price, ratio and cost unchanged', () => {
  const priced = { ...usage, basePrice: '300000', ratio: '0.85', cost: '255000' };
  expect(JSON.parse(usageText(priced))).toMatchObject({ basePrice: '0.30', ratio: '0.85', cost: '0.255' });
});

test('the error names the reason, and the next report goes to the next instance', async () => {
  const { target } = await startControlPlane('{"errors":[{"message":"the wallet is shut"}]}');
  await expect(sendReport(target, report)).rejects.toThrow(
    'nodeUsageReport got no answer: the wallet is shut',
  );
  const { target: empty } = await startControlPlane('{}');
  await expect(sendReport(empty, report)).rejects.toThrow('got no answer: the answer has an unknown form');
  const { target: other } = await startControlPlane(JSON.stringify({ data: { nodeUsageReport: done } }));
  const addresses = new ControlAddresses(['http://127.0.0.1:9/graphql', other.addresses.current]);
  const moving = { ...other, addresses };
  await expect(sendReport(moving, report)).rejects.toThrow(/nodeUsageReport got no answer: .*127\.0\.0\.1:9/);
  expect(await sendReport(moving, report)).toEqual(done);
});

test('nothing is sent to an https address without TLS', async () => {
  const { target, received } = await startControlPlane(JSON.stringify({ data: { nodeUsageReport: done } }));
  const addresses = new ControlAddresses([target.addresses.current.replace('http:', 'https:')]);
  const failure = sendReport({ ...target, addresses }, report);
  await expect(failure).rejects.toThrow(/got no answer: .*(EPROTO|SSL|TLS)/);
  expect(received).toEqual([]);
});

test('an answer that never ends is rejected, and does not affect other reports', async () => {
  const { target } = await startControlPlane('{"data":', false);
  await expect(sendReport(target, report)).rejects.toBeInstanceOf(ControlError);
  const { target: other } = await startControlPlane(JSON.stringify({ data: { nodeUsageReport: done } }));
  expect(await sendReport(other, report)).toEqual(done);
});
