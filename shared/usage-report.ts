/** How a node reports what it served: the mutation, and a usage record in the words of the API. */
import { FAMILIES, GROUPS } from './catalog.ts';
import type { Family, Group } from './catalog.ts';
import { dollarsOf } from './money.ts';
import type { AttemptRecord, UsageOutcome, UsageRecord, UsageSource, UsageStatus } from './records.ts';
import { TimeTexts } from './time-texts.ts';

/** Settles journal records and reports free requests. At-least-once; idempotent by request id. */
export const NODE_USAGE_REPORT = /* GraphQL */ `
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

/** The most records one report may carry. */
export const USAGE_BATCH_MAX = 500;

/** A report. */
export interface UsageReport {
  nodeId: string;
  batchId: string;
  /** Pieces of one or more JSON texts of a NodeUsageRecordInput, see `usageText`, with commas between. */
  pieces: readonly string[];
}
export interface NodeUsageReportAnswer {
  accepted: number;
  duplicates: number;
  /**
   * Request ids that can never be settled (foreign lease or journal, replay under another place): drop them.
   */
  rejected: string[];
  userErrors: { code: string; message: string }[];
}

/**
 * One finished request as the GraphQL API takes it: money in dollars, enum values in capitals, time in RFC
 * 3339. A charge has a place, too: all three or none of journal, seq and lease.
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
  /** Both or none: a control plane of an earlier release, which does not know them, is seldom told. */
  attempts?: readonly AttemptRecord[] | undefined;
  attemptsOmitted?: number | undefined;
}

/**
 * Where a charge stands: its journal, its number among that journal's charges (from 1, without gaps), its
 * lease.
 */
export interface ChargePlace {
  journalId: string;
  seq: number;
  leaseId: string;
}

/**
 * The JSON text of a record as `nodeUsageReport` takes it; a charge has a place. It is what a node writes
 * into its journal and sends later on, encoded once.
 */
export function usageText(usage: UsageRecord, place?: ChargePlace, times = new TimeTexts()): string {
  return JSON.stringify(usageInput(usage, place, times.of(usage.at)));
}

/** What is written with each record, and seldom anything else. */
const CAPITALS = new Map<string, string>([...GROUPS, ...FAMILIES].map((word) => [word, word.toUpperCase()]));

const BODY_START = `{"query":${JSON.stringify(NODE_USAGE_REPORT)},"variables":{"input":{"nodeId":`;

/** The body of the POST that reports, in pieces: GraphQL over HTTP around texts that are JSON already. */
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
    attempts: usage.tried?.attempts,
    attemptsOmitted: usage.tried?.omitted,
  };
}

function capitals<Word extends Group | Family>(word: Word): Uppercase<Word> {
  return (CAPITALS.get(word) ?? word.toUpperCase()) as Uppercase<Word>;
}
