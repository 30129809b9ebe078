/** GraphQL types of the status page: uptime and incidents. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Family } from '@gateway/shared/catalog';
import { describeEnum, WireFamily } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { DateTime, Decimal } from '../graphql/scalars.ts';
import { MESSAGE_LENGTH_MAX, TITLE_LENGTH_MAX } from './incident.rules.ts';
import type { IncidentKind, IncidentState } from './incident.rules.ts';
import { CUSTOMERS_MIN, REQUESTS_MIN, UPTIME_DAYS } from './uptime.rules.ts';

const IncidentKindEnum = describeEnum<IncidentKind>('IncidentKind', 'How much an incident affects.', {
  DEGRADATION: 'Requests are slower, or some of them fail.',
  OUTAGE: 'Most requests fail.',
  MAINTENANCE: 'Planned work.',
});

const IncidentStateEnum = describeEnum<IncidentState>('IncidentState', 'State of an incident.', {
  INVESTIGATING: 'The cause is being searched.',
  IDENTIFIED: 'The cause is known.',
  MONITORING: 'It is repaired, and is watched.',
  SCHEDULED: 'The maintenance is planned.',
  IN_PROGRESS: 'The maintenance has begun.',
  RESOLVED: 'It is over.',
});

const DAYS =
  `Share of the requests of each of the last ${UPTIME_DAYS} days in UTC that were answered, 0 to 1, oldest ` +
  'first and today last. Refusals that the customer caused do not count. A day with fewer than ' +
  `${REQUESTS_MIN} requests or ${CUSTOMERS_MIN} customers is the share of successful probes of the ` +
  'upstreams, and null without probes.';

/** Uptime of a model or family. */
@ObjectType()
abstract class UptimeFields {
  @Field(() => Decimal, { nullable: true, description: 'Mean of the days with data; null without data.' })
  share!: string | null;

  @Field(() => [Decimal], { nullable: 'items', description: DAYS })
  days!: (string | null)[];
}

/** Uptime of a model. */
@ObjectType({ description: 'Uptime of a model.' })
export class ModelUptime extends UptimeFields {
  @Field(() => String, { description: 'Name of the model.' })
  name!: string;
}

/** Uptime of a family of endpoints. */
@ObjectType({ description: 'Uptime of a family of endpoints, over all models.' })
export class FamilyUptime extends UptimeFields {
  @Field(() => WireFamily, { description: 'The family.' })
  family!: Family;
}

/** One message about an incident. */
@ObjectType({ description: 'One message about an incident.' })
export class IncidentUpdate {
  @Field(() => ID, { description: 'Id of the message.' })
  id!: string;

  @Field(() => DateTime, { description: 'When it was written.' })
  at!: Date;

  @Field(() => IncidentStateEnum, { description: 'State of the incident from then on.' })
  state!: IncidentState;

  @Field(() => String, { description: 'The text.' })
  message!: string;
}

/** An incident or a maintenance. */
@ObjectType({ description: 'An incident or a maintenance, as an administrator described it.' })
export class Incident {
  @Field(() => ID, { description: 'Id of the incident.' })
  id!: string;

  @Field(() => IncidentKindEnum, { description: 'How much it affects.' })
  kind!: IncidentKind;

  @Field(() => String, { description: 'The title.' })
  title!: string;

  @Field(() => IncidentStateEnum, { description: 'The present state.' })
  state!: IncidentState;

  @Field(() => [String], { description: 'Names of the affected models.' })
  modelNames!: string[];

  @Field(() => [WireFamily], {
    description: 'Affected families of endpoints. Without models and families, everything is affected.',
  })
  families!: Family[];

  @Field(() => DateTime, { description: 'When it began, or when the maintenance begins.' })
  startsAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'Planned end of a maintenance; null for incidents.' })
  endsAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was resolved; null until then.' })
  resolvedAt!: Date | null;

  @Field(() => [IncidentUpdate], { description: 'The messages, newest first.' })
  updates!: IncidentUpdate[];

  @Field(() => Int, { description: 'Version, for `adminIncidentUpdate`.' })
  version!: number;
}

/** The public status of the service. */
@ObjectType({ description: 'The public status of the service. It needs no authentication.' })
export class ServiceStatus {
  @Field(() => DateTime, { description: 'When it was read.' })
  asOf!: Date;

  @Field(() => DateTime, { description: 'Start of the first of the days, in UTC.' })
  from!: Date;

  @Field(() => [ModelUptime], { description: 'Uptime of the models of the catalog.' })
  models!: ModelUptime[];

  @Field(() => [FamilyUptime], { description: 'Uptime of the families of endpoints.' })
  families!: FamilyUptime[];

  @Field(() => [Incident], {
    description: `Incidents of the last ${UPTIME_DAYS} days and planned maintenances, open ones first.`,
  })
  incidents!: Incident[];
}

const MESSAGE = `What users read about it, at most ${MESSAGE_LENGTH_MAX} characters.`;

/** Input of `adminIncidentCreate`. */
@InputType({ description: 'An incident or maintenance for the status page, with its first message.' })
export class AdminIncidentInput {
  @Field(() => IncidentKindEnum, { description: 'How much it affects.' })
  kind!: IncidentKind;

  @Field(() => String, { description: `The title, at most ${TITLE_LENGTH_MAX} characters.` })
  title!: string;

  @Field(() => IncidentStateEnum, { description: 'The state.' })
  state!: IncidentState;

  @Field(() => String, { description: MESSAGE })
  message!: string;

  @Field(() => [String], { nullable: true, description: 'Names of the affected models; none for all.' })
  modelNames?: string[] | null;

  @Field(() => [WireFamily], { nullable: true, description: 'Affected families; none for all.' })
  families?: Family[] | null;

  @Field(() => DateTime, { nullable: true, description: 'When it begins. Defaults to now.' })
  startsAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Planned end; only of a maintenance.' })
  endsAt?: Date | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Input of `adminIncidentUpdate`. */
@InputType({ description: 'A message about an incident, and its new state. Other members may be absent.' })
export class AdminIncidentUpdateInput {
  @Field(() => ID, { description: 'The incident.' })
  id!: string;

  @Field(() => Int, { description: 'Version when it was read.' })
  version!: number;

  @Field(() => IncidentKindEnum, { nullable: true, description: 'How much it affects.' })
  kind?: IncidentKind | null;

  @Field(() => String, { nullable: true, description: 'The title.' })
  title?: string | null;

  @Field(() => IncidentStateEnum, { description: 'The state from now on.' })
  state!: IncidentState;

  @Field(() => String, { description: MESSAGE })
  message!: string;

  @Field(() => [String], { nullable: true, description: 'Names of the affected models.' })
  modelNames?: string[] | null;

  @Field(() => [WireFamily], { nullable: true, description: 'Affected families.' })
  families?: Family[] | null;

  @Field(() => DateTime, { nullable: true, description: 'Planned end of a maintenance.' })
  endsAt?: Date | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Result of a mutation of an incident. */
@ObjectType({ description: 'Result of creating or changing an incident.' })
export class IncidentPayload {
  @Field(() => Incident, { nullable: true, description: 'The incident; null if the mutation failed.' })
  incident?: Incident | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
