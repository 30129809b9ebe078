/** Settlement on the API: nodes report finished requests. */
import 'reflect-metadata';
import { Arg, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { Family, Group } from '@gateway/shared/catalog';
import type {
  AttemptOutcome,
  AttemptRecord,
  UsageOutcome,
  UsageSource,
  UsageStatus,
} from '@gateway/shared/records';
import { actorOf, Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { BillingGroup, WireFamily } from '../enums.ts';
import { outcome, UserError } from '../errors.ts';
import { DateTime, Decimal, Money } from '../scalars.ts';
import { AttemptOutcomeEnum } from '../usage/attempt.resolver.ts';
import type { ReportedUsage } from '../usage/settlement.rules.ts';
import { settle } from '../usage/settlement.service.ts';
import { UsageOutcomeEnum, UsageSourceEnum, UsageStatusEnum } from '../usage/usage.types.ts';
import { ownId } from './sync.resolver.ts';

/** One upstream's turn in a request. */
@InputType({ description: "One upstream's turn in a request." })
export class NodeAttemptInput {
  @Field(() => ID, { description: 'The route to it.' })
  routeId!: string;

  @Field(() => AttemptOutcomeEnum, { description: 'What became of it.' })
  outcome!: AttemptOutcome;

  @Field(() => String, { nullable: true, description: 'Code of the failure, or why it was passed over.' })
  errorCode?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'HTTP status of an answer that could not be relayed; null where there was none.',
  })
  httpStatus?: number | null;

  @Field(() => Int, { description: 'How long it took, in milliseconds.' })
  ms!: number;
}

/** One finished request; one record of a node's journal where it cost something. */
@InputType({ description: "One finished request; one record of a node's journal where it cost something." })
export class NodeUsageRecordInput {
  @Field(() => String, { description: 'The x-request-id of the answer: settled once, ever.' })
  requestId!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'The journal of the charge; null where the request was free.',
  })
  journalId?: string | null;

  @Field(() => Decimal, {
    nullable: true,
    description: 'Number among the charges of the journal: from 1, without gaps.',
  })
  seq?: string | null;

  @Field(() => ID, { nullable: true, description: 'The lease that pays; null where the request was free.' })
  leaseId?: string | null;

  @Field(() => DateTime, { description: 'When it finished.' })
  at!: Date;

  @Field(() => ID, { description: 'The key.' })
  keyId!: string;

  @Field(() => ID, { description: 'The wallet of the key.' })
  walletId!: string;

  @Field(() => ID, { nullable: true, description: 'The pool of the key.' })
  poolId?: string | null;

  @Field(() => BillingGroup, { description: 'The group of the key.' })
  group!: Group;

  @Field(() => UsageSourceEnum, { description: 'Where it came from.' })
  source!: UsageSource;

  @Field(() => String, { description: 'Catalog name.' })
  modelName!: string;

  @Field(() => WireFamily, { description: 'The family of endpoints.' })
  family!: Family;

  @Field(() => ID, { nullable: true, description: 'The route that answered.' })
  routeId?: string | null;

  @Field(() => Money, { description: 'Price before the ratio.' })
  basePrice!: bigint;

  @Field(() => Decimal, { description: "The group's ratio." })
  ratio!: string;

  @Field(() => Money, { description: 'What was charged.' })
  cost!: bigint;

  @Field(() => Int, { nullable: true, description: 'Input tokens, cached ones included.' })
  inputTokens?: number | null;

  @Field(() => Int, { nullable: true, description: 'Output tokens, reasoning included.' })
  outputTokens?: number | null;

  @Field(() => Int, { nullable: true, description: 'Cached input tokens.' })
  cachedTokens?: number | null;

  @Field(() => Int, { nullable: true, description: 'Tokens spent on reasoning.' })
  reasoningTokens?: number | null;

  @Field(() => UsageStatusEnum, { description: 'How it ended.' })
  status!: UsageStatus;

  @Field(() => UsageOutcomeEnum, { description: 'Why it was charged or not.' })
  outcome!: UsageOutcome;

  @Field(() => Int, { description: 'HTTP status of the answer.' })
  httpStatus!: number;

  @Field(() => String, { nullable: true, description: 'Code of the failure.' })
  errorCode?: string | null;

  @Field(() => Boolean, { description: 'Whether the answer was streamed.' })
  streamed!: boolean;

  @Field(() => Int, { description: 'From request to end, in milliseconds.' })
  latencyMs!: number;

  @Field(() => Int, { nullable: true, description: 'From request to first content, in milliseconds.' })
  ttftMs?: number | null;

  @Field(() => String, { nullable: true, description: 'Address of the caller.' })
  ip?: string | null;

  @Field(() => Int, { description: "Parts of the answer that the client's format could not carry." })
  lossesInAnswer!: number;

  @Field(() => [NodeAttemptInput], {
    nullable: true,
    description: 'Upstreams in their turns; null where there was none but that of the route.',
  })
  attempts?: NodeAttemptInput[] | null;

  @Field(() => Int, { nullable: true, description: 'Turns before the last one that are not listed.' })
  attemptsOmitted?: number | null;
}

/** A batch of finished requests. */
@InputType({ description: 'A batch of finished requests.' })
export class NodeUsageReportInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => ID, { description: 'Names the batch in logs; records alone decide what is new.' })
  batchId!: string;

  @Field(() => [NodeUsageRecordInput], { description: 'At most 500.' })
  records!: NodeUsageRecordInput[];
}

/** What became of a batch. */
@ObjectType({ description: 'What became of a batch.' })
export class NodeUsageReportPayload {
  @Field(() => Int, { description: 'Records that were new.' })
  accepted!: number;

  @Field(() => Int, { description: 'Records that were known: harmless.' })
  duplicates!: number;

  @Field(() => [ID], { description: 'Request ids that can never be settled; each raised an alarm.' })
  rejected!: string[];

  @Field(() => [UserError], { description: 'Why the batch was not looked at.' })
  userErrors!: UserError[];
}

/** A node settles its own charges alone. */
@Resolver()
export class UsageReportResolver {
  @Authorized('NODE')
  @Mutation(() => NodeUsageReportPayload, {
    description: 'Settles journal records and takes in free requests; idempotent.',
  })
  nodeUsageReport(
    @Ctx() context: Context,
    @Arg('input', () => NodeUsageReportInput, { description: 'The batch.' }) input: NodeUsageReportInput,
  ): Promise<NodeUsageReportPayload> {
    const id = ownId(context, input.nodeId);
    return outcome({ accepted: 0, duplicates: 0, rejected: [] as string[] }, () =>
      settle(context.em, { node: { ...actorOf(context), id }, records: input.records.map(toReported) }),
    );
  }
}

function toReported({ attempts, attemptsOmitted, ...record }: NodeUsageRecordInput): ReportedUsage {
  return {
    ...record,
    ...(attempts ? { tried: { attempts: attempts.map(toAttempt), omitted: attemptsOmitted ?? 0 } } : {}),
    journalId: record.journalId ?? null,
    seq: record.seq === null || record.seq === undefined ? null : Number(record.seq),
    leaseId: record.leaseId ?? null,
    poolId: record.poolId ?? null,
    routeId: record.routeId ?? null,
    inputTokens: record.inputTokens ?? null,
    outputTokens: record.outputTokens ?? null,
    cachedTokens: record.cachedTokens ?? null,
    reasoningTokens: record.reasoningTokens ?? null,
    errorCode: record.errorCode ?? null,
    ttftMs: record.ttftMs ?? null,
    ip: record.ip ?? null,
  };
}

function toAttempt({ routeId, outcome: became, errorCode, httpStatus, ms }: NodeAttemptInput): AttemptRecord {
  return { routeId, outcome: became, errorCode: errorCode ?? null, httpStatus: httpStatus ?? null, ms };
}
