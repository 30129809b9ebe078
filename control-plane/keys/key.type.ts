/** API types of keys, and the inputs and payloads of their mutations. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import { connectionOf } from '../connections.ts';
import { BillingGroup, describeEnum, SortDirection } from '../enums.ts';
import { UserError } from '../errors.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, Money } from '../scalars.ts';

export const ApiKeyState = describeEnum('ApiKeyState', 'Only an enabled key authenticates.', {
  ENABLED: 'Works.',
  DISABLED: 'Is refused; disabledReason says why.',
});

export const KeyDisabledReason = describeEnum(
  'KeyDisabledReason',
  'Owners may enable a key again only after OWNER; LEAKED and REVOKED are final.',
  {
    NOT_REVEALED: 'Its secret does not exist yet; one that is not revealed within 7 days is revoked.',
    OWNER: 'Its owner disabled it.',
    ADMIN: 'An administrator disabled it.',
    LEAKED: 'Marked as leaked, for good.',
    REVOKED: 'Revoked, for good: by its owner, or because nobody revealed it within 7 days.',
    EXPIRED: 'Past its date.',
    POOL_EXPIRED: 'Its pool is past the paid period.',
    OWNER_SUSPENDED: 'Its owner is suspended.',
  },
);

export const ApiKeyOrderField = describeEnum('ApiKeyOrderField', 'What keys are sorted by.', {
  CREATED_AT: 'When they were made.',
  NAME: 'Their names.',
  LAST_USED_AT: 'When they were used last; unused ones count as the oldest.',
  SPEND: 'What they spent in this calendar month (UTC).',
});

/** Set from apiKeyRotate until the old secret stops working. */
@ObjectType({ description: 'Set from apiKeyRotate until the old secret stops working.' })
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

/** A key for the data plane. */
@ObjectType({
  implements: NodeInterface,
  description: 'A key for the data plane. Its secret is shown once and stored nowhere.',
})
export class ApiKey extends NodeInterface {
  @Field(() => String, { description: 'A name for people.' })
  name!: string;

  @Field(() => BillingGroup, { description: 'Decides the ratio on every price.' })
  group!: Group;

  @Field(() => [String], { description: 'CIDR blocks it may be used from; empty means any address.' })
  allowedIps!: string[];

  @Field(() => DateTime, { nullable: true, description: 'When it stops working by itself.' })
  expiresAt?: Date | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When its present secret was shown.' })
  revealedAt?: Date | null;

  @Field(() => Money, { nullable: true, description: 'What it may spend in a calendar month (UTC).' })
  spendLimit?: bigint | null;

  @Field(() => Int, { description: 'Counts changes; send it back with an update.' })
  version!: number;
}

export const ApiKeyConnection = connectionOf('ApiKey', ApiKey);

/** Which keys to list. */
@InputType({ description: 'Which keys to list.' })
export class ApiKeyFilter {
  @Field(() => String, { nullable: true, description: 'Part of the name, or of the visible characters.' })
  search?: string | null;

  @Field(() => [ApiKeyState], { nullable: true, description: 'Only in these states.' })
  states?: (keyof typeof ApiKeyState)[] | null;

  @Field(() => [BillingGroup], { nullable: true, description: 'Only of these groups.' })
  groups?: Group[] | null;

  @Field(() => ID, { nullable: true, description: 'Only keys of this pool.' })
  poolId?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Only keys of no pool.' })
  mainDomainOnly?: boolean | null;
}

/** How keys are sorted. */
@InputType({ description: 'How keys are sorted.' })
export class ApiKeyOrder {
  @Field(() => ApiKeyOrderField, { description: 'By what.' })
  field!: keyof typeof ApiKeyOrderField;

  @Field(() => SortDirection, { description: 'In which direction.' })
  direction!: keyof typeof SortDirection;
}

/** A new key. */
@InputType({ description: 'A new key.' })
export class ApiKeyCreateInput {
  @Field(() => String, { description: 'A name for people, at most 80 characters.' })
  name!: string;

  @Field(() => BillingGroup, {
    defaultValue: 'default',
    description: 'One of the groups the account may use.',
  })
  group!: Group;

  @Field(() => ID, { nullable: true, description: "Binds the key to this pool's subdomain." })
  poolId?: string | null;

  @Field(() => [ID], { nullable: true, description: 'The only models it may use; all when left out.' })
  allowedModelIds?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Addresses or CIDR blocks it may be used from; any when left out.',
  })
  allowedIps?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'When it stops working by itself.' })
  expiresAt?: Date | null;

  @Field(() => Money, { nullable: true, description: 'What it may spend in a calendar month (UTC).' })
  spendLimit?: bigint | null;

  @Field(() => String, { description: 'Repeating the call with the same key makes no second one.' })
  idempotencyKey!: string;
}

/** Changes of a key: what is left out stays, null clears. */
@InputType({ description: 'Changes of a key: what is left out stays, null clears.' })
export class ApiKeyUpdateInput {
  @Field(() => ID, { description: 'The key.' })
  id!: string;

  @Field(() => Int, { description: 'Its version as read.' })
  version!: number;

  @Field(() => String, { nullable: true, description: 'A new name.' })
  name?: string | null;

  @Field(() => BillingGroup, { nullable: true, description: 'One of the groups the account may use.' })
  group?: Group | null;

  @Field(() => [ID], { nullable: true, description: 'The only models it may use; null allows all.' })
  allowedModelIds?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Addresses or CIDR blocks it may be used from; null allows any.',
  })
  allowedIps?: string[] | null;

  @Field(() => DateTime, { nullable: true, description: 'When it stops working by itself; null for never.' })
  expiresAt?: Date | null;

  @Field(() => Money, { nullable: true, description: 'What it may spend in a month; null for no limit.' })
  spendLimit?: bigint | null;
}

/** Names a key to disable. */
@InputType({ description: 'Names a key to disable.' })
export class ApiKeyDisableInput {
  @Field(() => ID, { description: 'The key.' })
  id!: string;

  @Field(() => Boolean, { defaultValue: false, description: 'Somebody else has it: disabled for good.' })
  leaked!: boolean;
}

/** Opens a rotation. */
@InputType({ description: 'Opens a rotation.' })
export class ApiKeyRotateInput {
  @Field(() => ID, { description: 'The key.' })
  id!: string;

  @Field(() => Int, {
    defaultValue: 86_400,
    description: 'How long the old secret works after the new one is revealed.',
  })
  graceSeconds!: number;

  @Field(() => String, { description: 'Repeating the call with the same key opens no second one.' })
  idempotencyKey!: string;
}

/** Result of a change of a key. */
@ObjectType({ description: 'Result of a change of a key.' })
export class ApiKeyPayload {
  @Field(() => ApiKey, { nullable: true, description: 'The key.' })
  apiKey?: ApiKey | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of making or rotating a key. */
@ObjectType({
  description:
    'Result of making or rotating a key. The secret does not exist yet: apiKeyReveal makes it and shows it.',
})
export class ApiKeyCreatePayload extends ApiKeyPayload {
  @Field(() => Boolean, { description: 'Whether an earlier call with this idempotency key did it.' })
  replayed!: boolean;
}

/** Result of a reveal. */
@ObjectType({ description: 'Result of a reveal.' })
export class ApiKeyRevealPayload extends ApiKeyPayload {
  @Field(() => String, {
    nullable: true,
    description: 'Shown once; a second call returns KEY_ALREADY_REVEALED.',
  })
  secret?: string | null;
}

/** Result of disabling a key, or the old secret of one. */
@ObjectType({
  description:
    'Result of disabling a key, or the old secret of one, after waiting up to one second for the nodes.',
})
export class ApiKeyDisablePayload extends ApiKeyPayload {
  @Field(() => Int, { description: 'Connected nodes that have applied it.' })
  appliedNodes!: number;

  /** For the field `pendingNodes`, which the nodes' own domain adds. */
  pendingNodeIds!: string[];
}
