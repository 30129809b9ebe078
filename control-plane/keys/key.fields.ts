/** Fields of a key that are computed when asked for. */
import 'reflect-metadata';
import { Args, ArgsType, Ctx, Field, FieldResolver, Resolver, Root } from 'type-graphql';
import { formatRatio } from '@gateway/shared/money';
import { User } from '../accounts/user.type.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import type { Context } from '../context.ts';
import { requestError, UserFailure } from '../errors.ts';
import { DateRange } from '../inputs.ts';
import { modelsByIds, ratiosForAll, usersById } from '../lookups.ts';
import { DateTime, Decimal, Money } from '../scalars.ts';
import type { Summary } from '../usage/summary.service.ts';
import { UsageBucket, UsageSummary } from '../usage/usage.types.ts';
import type { DisabledReason, KeyRow, KeyState } from './key.entity.ts';
import { graceOf } from './key.grace.ts';
import { reasonOf } from './key.record.ts';
import {
  oldSecretUsesOfKeys,
  spendsOfKeys,
  summariesByKey,
  summaryKey,
  totalsBeforeByKey,
  usesOfKeys,
} from './key.use.ts';
import { ApiKey, ApiKeyState, KeyDisabledReason, KeyRotation } from './key.type.ts';

/** What a summary of a key is about. */
@ArgsType()
export class KeySummaryArguments {
  @Field(() => DateRange, { description: 'The span, at most 400 days.' })
  range!: DateRange;

  @Field(() => UsageBucket, { nullable: true, description: 'Width of the points of `series`.' })
  bucket?: UsageBucket | null;
}

/** What is not a column of the key, or not as it stands there. */
@Resolver(() => ApiKey)
export class KeyFields {
  @FieldResolver(() => String, { description: 'sk- plus the first 4 characters; empty before the reveal.' })
  prefix(@Root() key: KeyRow): string {
    return key.prefix ?? '';
  }

  @FieldResolver(() => String, { description: 'Last 4 characters; empty before the reveal.' })
  suffix(@Root() key: KeyRow): string {
    return key.suffix ?? '';
  }

  @FieldResolver(() => ApiKeyState, { description: 'Whether it authenticates now.' })
  state(@Root() key: KeyRow): KeyState {
    return reasonOf(key, new Date()) === null ? 'ENABLED' : 'DISABLED';
  }

  @FieldResolver(() => KeyDisabledReason, {
    nullable: true,
    description: 'Why it does not authenticate; null while it does.',
  })
  disabledReason(@Root() key: KeyRow): DisabledReason | null {
    return reasonOf(key, new Date());
  }

  @FieldResolver(() => Decimal, { description: 'The ratio of its group.' })
  async groupRatio(@Root() key: KeyRow, @Ctx() context: Context): Promise<string> {
    const ratios = await context.batches.load(ratiosForAll, '');
    const ratio = ratios?.find((row) => row.name === key.group);
    if (!ratio) throw new Error(`The group ${key.group} has no ratio.`);
    return formatRatio(ratio.ratio);
  }

  @FieldResolver(() => User, { nullable: true, description: 'Whose key it is.' })
  async owner(@Root() key: KeyRow, @Ctx() context: Context): Promise<User | null> {
    return (await context.batches.load(usersById, key.ownerId)) ?? null;
  }

  @FieldResolver(() => [CatalogModel], {
    nullable: true,
    description: 'The only models it may use; null means all of its group.',
  })
  async allowedModels(@Root() key: KeyRow, @Ctx() context: Context): Promise<CatalogModel[] | null> {
    if (!key.allowedModelIds) return null;
    const models = key.allowedModelIds.map((id) => context.batches.load(modelsByIds, id));
    return (await Promise.all(models)).filter((model) => model !== undefined);
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'Last request that a node reported.' })
  async lastUsedAt(@Root() key: KeyRow, @Ctx() context: Context): Promise<Date | null> {
    return (await context.batches.load(usesOfKeys, key.id))?.lastUsedAt ?? null;
  }

  @FieldResolver(() => String, { nullable: true, description: 'The address that request came from.' })
  async lastUsedIp(@Root() key: KeyRow, @Ctx() context: Context): Promise<string | null> {
    return (await context.batches.load(usesOfKeys, key.id))?.lastUsedIp ?? null;
  }

  @FieldResolver(() => Money, { description: 'What it spent in this calendar month (UTC).' })
  async spentThisMonth(@Root() key: KeyRow, @Ctx() context: Context): Promise<bigint> {
    return (await context.batches.load(spendsOfKeys, key.id)) ?? 0n;
  }

  @FieldResolver(() => UsageSummary, { description: 'Sums over its requests, and points for a small chart.' })
  async usageSummary(
    @Root() key: KeyRow,
    @Ctx() context: Context,
    @Args(() => KeySummaryArguments) { range, bucket }: KeySummaryArguments,
  ): Promise<Summary> {
    try {
      const asked = summaryKey(key.id, { range, bucket: bucket ?? null });
      const summary = await context.batches.load(summariesByKey, asked);
      if (!summary) throw new Error(`The key ${key.id} has no summary.`);
      return { ...summary, before: () => context.batches.load(totalsBeforeByKey, asked) };
    } catch (error) {
      if (error instanceof UserFailure) throw requestError('BAD_USER_INPUT', error.message);
      throw error;
    }
  }

  @FieldResolver(() => KeyRotation, { nullable: true, description: 'A rotation that is under way.' })
  rotation(@Root() key: KeyRow): KeyRotation | null {
    const keyId = key.id;
    if (typeof key.rotationGraceSeconds === 'number') {
      return { keyId, pendingReveal: true, previousSuffix: key.suffix ?? '', graceEndsAt: null };
    }
    const until = graceOf(key, new Date());
    return until
      ? { keyId, pendingReveal: false, previousSuffix: key.previousSuffix ?? '', graceEndsAt: until }
      : null;
  }
}

/** What of a rotation is looked up where somebody asks for it. */
@Resolver(() => KeyRotation)
export class RotationFields {
  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Last request with the old secret; once the new one is revealed, only those since then count. ' +
      'Null for none: nobody would miss it.',
  })
  async previousLastUsedAt(
    @Root() { keyId, pendingReveal }: KeyRotation,
    @Ctx() { batches }: Context,
  ): Promise<Date | null> {
    // Until the reveal there is no other secret: every request comes with the old one.
    if (pendingReveal) return (await batches.load(usesOfKeys, keyId))?.lastUsedAt ?? null;
    return (await batches.load(oldSecretUsesOfKeys, keyId)) ?? null;
  }
}
