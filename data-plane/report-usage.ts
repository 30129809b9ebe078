/**
 * Sends a usage report as one plain POST of GraphQL over HTTP. A client library would parse, hash and sort
 * the variables of every report; these are texts that were encoded when the charges were made.
 */
import { request } from 'undici';
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

async function post({ addresses, token, timeoutMs }: ReportTarget, body: Uint8Array): Promise<Answer> {
  const address = addresses.current;
  try {
    const { body: answer } = await request(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json',
        authorization: `Bearer ${token}`,
      },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return (await answer.json()) as Answer;
  } catch (cause) {
    addresses.leave(address);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ControlError(`${FIELD} got no answer: ${reason}`, undefined, cause);
  }
}
