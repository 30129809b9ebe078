/**
 * Sends a usage report as a plain GraphQL POST. A client library would parse, hash and sort the variables of
 * each report, and `fetch` would copy the body; here the text from the journal is sent as it is.
 */
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { json } from 'node:stream/consumers';
import { reportBody } from '@gateway/shared/usage-report';
import type { NodeUsageReportAnswer, UsageReport } from '@gateway/shared/usage-report';
import type { ControlAddresses } from './addresses.ts';
import { ControlError, refusalError } from './error.ts';

/** Where reports are sent, and the credentials. */
export interface ReportTarget {
  addresses: ControlAddresses;
  /** The node's token (`gnt_…`). */
  token: string;
  /** Time until a report counts as unanswered, in ms. */
  timeoutMs: number;
}

const FIELD = 'nodeUsageReport';

/** The parts of a GraphQL answer that are read here. */
interface Answer {
  data?: { nodeUsageReport?: NodeUsageReportAnswer | null } | null;
  errors?: { message: string; extensions?: { code?: unknown } }[];
}

/** Sends a report once. Throws ControlError without a valid answer or if refused; it may be sent again. */
export async function sendReport(target: ReportTarget, report: UsageReport): Promise<NodeUsageReportAnswer> {
  const { data, errors } = await post(target, reportBody(report));
  const answer = data?.nodeUsageReport;
  if (!answer || errors) {
    const [first] = errors ?? [];
    const code = first?.extensions?.code;
    const reason = first?.message ?? 'the answer has an unknown form';
    throw new ControlError(
      `${FIELD} got no answer: ${reason}`,
      typeof code === 'string' ? code : undefined,
      undefined,
    );
  }
  if (answer.userErrors.length > 0) throw refusalError(FIELD, answer.userErrors);
  return answer;
}

async function post({ addresses, token, timeoutMs }: ReportTarget, body: readonly string[]): Promise<Answer> {
  const address = addresses.current;
  try {
    const { request } = address.startsWith('https:') ? https : http;
    const outgoing = request(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': body.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
        accept: 'application/graphql-response+json, application/json',
        authorization: `Bearer ${token}`,
      },
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Errors after the response head also fail the reading of the body. Without a listener they would end the
    // process.
    outgoing.on('error', () => undefined);
    outgoing.cork();
    for (const piece of body) outgoing.write(piece);
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [http.IncomingMessage];
    return (await json(response)) as Answer;
  } catch (cause) {
    addresses.failOver(address);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ControlError(`${FIELD} got no answer: ${reason}`, undefined, cause);
  }
}
