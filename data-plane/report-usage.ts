/**
 * Sends a usage report as one plain POST of GraphQL over HTTP. A client library would parse, hash and sort
 * the variables of every report, and `fetch` copies its body; these are bytes as they stand in the journal.
 */
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { json } from 'node:stream/consumers';
import { reportBody } from '@gateway/shared/usage-report';
import type { NodeUsageReportAnswer, UsageReport } from '@gateway/shared/usage-report';
import type { Addresses } from './addresses.ts';
import { ControlError, refusal } from './control-error.ts';

/** Where the control plane takes reports, and from whom. */
export interface ReportTarget {
  addresses: Addresses;
  /** The node's token (`gnt_…`). */
  token: string;
  /** How long a report may take before it counts as unanswered, in ms. */
  timeoutMs: number;
}

const FIELD = 'nodeUsageReport';

/** What a GraphQL server answers, as far as it is read here. */
interface Answer {
  data?: { nodeUsageReport?: NodeUsageReportAnswer | null } | null;
  errors?: { message: string; extensions?: { code?: unknown } }[];
}

/** Reports once. Throws ControlError when no valid answer comes, or a refusal: it may be sent again. */
export async function sendReport(target: ReportTarget, report: UsageReport): Promise<NodeUsageReportAnswer> {
  const { data, errors } = await post(target, reportBody(report));
  const answer = data?.nodeUsageReport;
  if (!answer || errors) {
    const [first] = errors ?? [];
    const code = first?.extensions?.code;
    const reason = first?.message ?? 'it answered something else';
    throw new ControlError(
      `${FIELD} got no answer: ${reason}`,
      typeof code === 'string' ? code : undefined,
      undefined,
    );
  }
  if (answer.userErrors.length > 0) throw refusal(FIELD, answer.userErrors);
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
    // What fails behind the head fails the reading of the body, too: without a listener it ended the process.
    outgoing.on('error', () => undefined);
    outgoing.cork();
    for (const piece of body) outgoing.write(piece);
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [http.IncomingMessage];
    return (await json(response)) as Answer;
  } catch (cause) {
    addresses.leave(address);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ControlError(`${FIELD} got no answer: ${reason}`, undefined, cause);
  }
}
