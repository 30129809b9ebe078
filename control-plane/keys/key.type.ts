/** GraphQL types of keys, and inputs and payloads of their mutations. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import { connectionOf } from '../graphql/connections.ts';
import { BillingGroup, describeEnum, SortDirection } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Money } from '../graphql/scalars.ts';

export const ApiKeyState = describeEnum('ApiKeyState', 'Whether a key works.', {
  ENABLED: 'The key works.',
  DISABLED: 'Requests with the key are refused; see disabledReason.',
});

export const KeyDisabledReason = describeEnum(
  'KeyDisabledReason',
  'Why a key does not work. Its owner can enable it again only after OWNER. LEAKED and REVOKED are final.',
  {
    NOT_REVEALED: 'The secret does not exist yet. A key that is not revealed within 7 days is revoked.',
    OWNER: 'The owner disabled it.',
    ADMIN: 'An administrator disabled it.',
    LEAKED: 'The owner marked it as leaked. Permanent.',
    REVOKED: 'The owner revoked it, or it was not revealed within 7 days. Permanent.',
    EXPIRED: 'expiresAt has passed.',
    POOL_EXPIRED: 'The paid period of its pool has ended.',
    OWNER_SUSPENDED: 'The owner is suspended.',
  },
);

export const ApiKeyOrderField = describeEnum('ApiKeyOrderField', 'What keys are sorted by.', {
  CREATED_AT: 'Time of creation.',
  NAME: 'Name.',
  LAST_USED_AT: 'Time of last use. Unused keys count as oldest.',
  SPEND: 'Spend in this calendar month (UTC).',
});

/** A rotation in progress: from apiKeyRotate until the old secret stops working. */
@ObjectType({ description: 'A rotation in progress: from apiKeyRotate until the old secret stops working.' })
export class KeyRotation {
  keyId!: string;

  @Field(() => Boolean, { description: 'Whether the new secret waits to be revealed.' })
  pendingReveal!: boolean;

  @Field(() => String, { description: 'Last four characters of the old secret.' })
  previousSuffix!: string;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the old secret stops working; null until the new one is revealed.',
  })
  graceEndsAt?: Date | null;
}

/** An API key for models. */
@ObjectType({
  implements: GlobalObject,
  description: 'An API key for models. Its secret is returned once and never stored.',
})
export class ApiKey extends GlobalObject {
  @Field(() => String, { description: 'Name that the owner gave it.' })
  name!: string;

  @Field(() => BillingGroup, { description: 'Billing group, whose ratio multiplies every price.' })
  group!: Group;

  @Field(() => [String], {
    description: 'CIDR blocks from which the key may be used; empty for any address.',
  })
  allowedIps!: string[];

  @Field(() => DateTime, { nullable: true, description: 'When it expires; null for never.' })
  expiresAt?: Date | null;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the current secret was revealed.' })
  revealedAt?: Date | null;

  @Field(() => Money, { nullable: true, description: 'Spend limit per calendar month (UTC); null for none.' })
  spendLimit?: bigint | null;

  @Field(() => Int, { description: 'Number of the version. Send it with apiKeyUpdate.' })
  version!: number;
}

export const ApiKeyConnection = connectionOf('ApiKey', ApiKey);

/** Filters of a list of keys. */
@InputType({ description: 'Filters of a list of keys.' })
export class ApiKeyFilter {
  @Field(() => String, { nullable: true, description: 'Part of the name, prefix or suffix.' })
  search?: string | null;

  @Field(() => [ApiKeyState], { nullable: true, description: 'Only keys in these states.' })
  states?: (keyof typeof ApiKeyState)[] | null;

  @Field(() => [BillingGroup], { nullable: true, description: 'Only keys in these groups.' })
  groups?: Group[] | null;

  @Field(() => ID, { nullable: true, description: 'Only keys of this pool.' })
  poolId?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Only keys without a pool.' })
  mainDomainOnly?: boolean | null;
}

/** Order of a list of keys. */
@InputType({ description: 'Order of a list of keys.' })
export class ApiKeyOrder {
  @Field(() => ApiKeyOrderField, { description: 'What to sort by.' })
  field!: keyof typeof ApiKeyOrderField;

  @Field(() => SortDirection, { description: 'Direction.' })
  direction!: keyof typeof SortDirection;
}

/** Input of `apiKeyCreate`. */
@InputType({ description: 'A new key.' })
export class ApiKeyCreateInput {
  @Field(() => String, { description: 'Name, 1 to 80 characters.' })
  name!: string;

  @Field(() => BillingGroup, {
    defaultValue: 'default',
    description: 'One of the billing groups that the account may use.',
  })
  group!: Group;

  @Field(() => ID, {
    nullable: true,
    description: 'Pool of the key, which then works only on the subdomain of that pool.',
  })
  poolId?: string | null;

  @Field(() => [ID], { nullable: true, description: 'Models that the key may use; all by default.' })
  allowedModelIds?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'IP addresses or CIDR blocks from which the key may be used; any by default.',
  })
  allowedIps?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'When it expires; null for never.' })
  expiresAt?: Date | null;

  @Field(() => Money, { nullable: true, description: 'Spend limit per calendar month (UTC); null for none.' })
  spendLimit?: bigint | null;

  @Field(() => String, { description: 'Idempotency key: repeating the call with it returns the same key.' })
  idempotencyKey!: string;
}

/** Input of `apiKeyUpdate`. */
@InputType({
  description: 'Changes of a key. Fields that are left out stay unchanged; null removes a limit.',
})
export class ApiKeyUpdateInput {
  @Field(() => ID, { description: 'The key.' })
  id!: string;

  @Field(() => Int, { description: 'Version of the key when it was read.' })
  version!: number;

  @Field(() => String, { nullable: true, description: 'New name, 1 to 80 characters.' })
  name?: string | null;

  @Field(() => BillingGroup, {
    nullable: true,
    description: 'One of the billing groups that the account may use.',
  })
  group?: Group | null;

  @Field(() => [ID], { nullable: true, description: 'Models that the key may use; null for all.' })
  allowedModelIds?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'IP addresses or CIDR blocks from which the key may be used; null for any.',
  })
  allowedIps?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'When it expires; null for never.' })
  expiresAt?: Date | null;

  @Field(() => Money, { nullable: true, description: 'Spend limit per calendar month (UTC); null for none.' })
  spendLimit?: bigint | null;
}

/** Input of `apiKeyDisable`. */
@InputType({ description: 'A key to disable.' })
export class ApiKeyDisableInput {
  @Field(() => ID, { description: 'The key.' })
  id!: string;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Whether somebody else knows the secret. If so, the key is disabled permanently.',
  })
  leaked!: boolean;
}

/** Input of `apiKeyRotate`. */
@InputType({ description: 'A key to rotate.' })
export class ApiKeyRotateInput {
  @Field(() => ID, { description: 'The key.' })
  id!: string;

  @Field(() => Int, {
    defaultValue: 86_400,
    description:
      'How long the old secret works after the reveal of the new one, in seconds; at most 30 days.',
  })
  graceSeconds!: number;

  @Field(() => String, {
    description: 'Idempotency key: repeating the call with it starts no second rotation.',
  })
  idempotencyKey!: string;
}

/** A key after a mutation. */
@ObjectType()
abstract class KeyOutcome {
  @Field(() => ApiKey, { nullable: true, description: 'The key; null if the mutation failed.' })
  apiKey?: ApiKey | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** A key after a mutation that nodes apply. */
@ObjectType()
export abstract class ConfirmedKeyOutcome extends KeyOutcome {
  @Field(() => Int, { description: 'Number of nodes that have applied the change.' })
  appliedNodes!: number;

  /** Ids for the field `pendingNodes`, which `nodes/` resolves. */
  pendingNodeIds!: string[];
}

/** Result of a change of a key. */
@ObjectType({ description: 'Result of a change of a key, after waiting for nodes to apply it.' })
export class ApiKeyPayload extends ConfirmedKeyOutcome {}

/** Result of creating or rotating a key. */
@ObjectType({
  description: 'Result of creating or rotating a key. apiKeyReveal then creates and returns its secret.',
})
export class ApiKeyCreatePayload extends KeyOutcome {
  @Field(() => Boolean, { description: 'Whether an earlier call with this idempotency key made the change.' })
  replayed!: boolean;
}

/** Result of `apiKeyReveal`. */
@ObjectType({ description: 'Result of revealing a key, after waiting for nodes to accept the secret.' })
export class ApiKeyRevealPayload extends ConfirmedKeyOutcome {
  @Field(() => String, {
    nullable: true,
    description: 'The secret, returned only once. A second call fails with KEY_ALREADY_REVEALED.',
  })
  secret?: string | null;
}

/** Result of disabling a key or its old secret. */
@ObjectType({
  description: 'Result of disabling a key or its old secret, after waiting for nodes to refuse it.',
})
export class ApiKeyDisablePayload extends ConfirmedKeyOutcome {}
