/** How a node reports usage: the mutation, and usage records in the form that the mutation takes. */
import { FAMILIES, GROUPS } from './catalog.ts';
import type { Family, Group } from './catalog.ts';
import { dollarsOf } from './money.ts';
import type { AttemptRecord, UsageOutcome, UsageRecord, UsageSource, UsageStatus } from './records.ts';
import { TimestampFormatter } from './timestamps.ts';

/** Settles charges and reports free requests. Sent at least once; idempotent by request id. */
const NODE_USAGE_REPORT = /* GraphQL */ `
  mutation NodeUsageReport($input: NodeUsageReportInput!) {
    nodeUsageReport(input: $input) {
      accepted
      duplicates
      rejected
      userErrors {
        code
        message
        field
      }
    }
  }
`;

/** Maximum number of records in one report. */
export const USAGE_BATCH_MAX = 500;

/** One report: a batch of usage records. */
export interface UsageReport {
  nodeId: string;
  batchId: string;
  /**
   * JSON texts of `NodeUsageRecordInput` (see `usageText`); a piece may hold several, separated by commas.
   */
  pieces: readonly string[];
}
export interface NodeUsageReportAnswer {
  accepted: number;
  duplicates: number;
  /**
   * Request ids that can never be settled, because the lease or journal is not the node's or the request was
   * settled under another charge. The node drops them.
   */
  rejected: string[];
  userErrors: { code: string; message: string }[];
}

/**
 * One finished request as the mutation takes it: money in dollars, enum values in capitals, time in RFC
 * 3339. A charge also has journal, seq and lease; a free request has none of the three.
 */
export interface NodeUsageRecordInput {
  journalId?: string | undefined;
  leaseId?: string | undefined;
  seq?: string | undefined;
  requestId: string;
  at: string;
  keyId: string;
  walletId: string;
  poolId: string | null;
  group: Uppercase<Group>;
  source: UsageSource;
  modelName: string;
  family: Uppercase<Family>;
  routeId: string | null;
  basePrice: string;
  ratio: string;
  cost: string;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  status: UsageStatus;
  outcome: UsageOutcome;
  httpStatus: number;
  errorCode: string | null;
  streamed: boolean;
  latencyMs: number;
  ttftMs: number | null;
  ip: string | null;
  lossesInAnswer: number;
  /**
   * Sent only if there are attempts to list, because control planes of earlier releases do not know them. The
   * cost of an attempt is in dollars here, and sent only if it is known, for the same reason.
   */
  attempts?: readonly AttemptRecord[] | undefined;
  attemptsOmitted?: number | undefined;
  /** Sent only above 0, for the same reason: an earlier control plane drops such a record of a refusal. */
  repeats?: number | undefined;
}

/** The journal of a charge, its number among the journal's charges (from 1, without gaps), and its lease. */
export interface ChargePlace {
  journalId: string;
  seq: number;
  leaseId: string;
}

/**
 * The JSON text of a usage record as `nodeUsageReport` takes it; `place` is given for charges. A node
 * encodes a record once: the same text is written to the journal and sent to the control plane.
 */
export function usageText(
  usage: UsageRecord,
  place?: ChargePlace,
  timestamps = new TimestampFormatter(),
): string {
  return JSON.stringify(usageInput(usage, place, timestamps.format(usage.at)));
}

/** Upper-case enum values, precomputed because every record has two. */
const CAPITALS = new Map<string, string>([...GROUPS, ...FAMILIES].map((word) => [word, word.toUpperCase()]));

const BODY_START = `{"query":${JSON.stringify(NODE_USAGE_REPORT)},"variables":{"input":{"nodeId":`;

/**
 * The body of the HTTP request, in pieces. The records are inserted as the JSON texts that they already are.
 */
export function reportBody({ nodeId, batchId, pieces }: UsageReport): string[] {
  const names = `${JSON.stringify(nodeId)},"batchId":${JSON.stringify(batchId)}`;
  const [first = '', ...others] = pieces;
  const body = [`${BODY_START}${names},"records":[`, first];
  for (const piece of others) body.push(',', piece);
  body.push(']}}}');
  return body;
}

function usageInput(usage: UsageRecord, place: ChargePlace | undefined, at: string): NodeUsageRecordInput {
  const basePrice = dollarsOf(usage.basePrice);
  return {
    journalId: place?.journalId,
    leaseId: place?.leaseId,
    seq: place && String(place.seq),
    requestId: usage.requestId,
    at,
    keyId: usage.keyId,
    walletId: usage.walletId,
    poolId: usage.poolId,
    group: capitals(usage.group),
    source: usage.source,
    modelName: usage.model,
    family: capitals(usage.family),
    routeId: usage.routeId,
    basePrice,
    ratio: usage.ratio,
    cost: usage.cost === usage.basePrice ? basePrice : dollarsOf(usage.cost),
    inputTokens: usage.tokens.input,
    outputTokens: usage.tokens.output,
    cachedTokens: usage.tokens.cached,
    reasoningTokens: usage.tokens.reasoning,
    status: usage.status,
    outcome: usage.outcome,
    httpStatus: usage.httpStatus,
    errorCode: usage.errorCode,
    streamed: usage.streamed,
    latencyMs: usage.latencyMs,
    ttftMs: usage.firstContentMs,
    ip: usage.ip,
    lossesInAnswer: usage.lossesInAnswer,
    attempts: usage.tried?.attempts.map(attemptInput),
    attemptsOmitted: usage.tried?.omitted,
    repeats: usage.repeats,
  };
}

function attemptInput(attempt: AttemptRecord): AttemptRecord {
  return attempt.cost === undefined ? attempt : { ...attempt, cost: dollarsOf(attempt.cost) };
}

function capitals<Word extends Group | Family>(word: Word): Uppercase<Word> {
  return (CAPITALS.get(word) ?? word.toUpperCase()) as Uppercase<Word>;
}
