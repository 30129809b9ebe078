/** GraphQL fields of a key that are computed when they are requested. */
import 'reflect-metadata';
import { Args, ArgsType, Ctx, Field, FieldResolver, Resolver, Root } from 'type-graphql';
import { formatRatio } from '@gateway/shared/money';
import { User } from '../accounts/user.type.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import type { Context } from '../graphql/context.ts';
import { requestError, UserFailure } from '../graphql/errors.ts';
import { DateRange } from '../graphql/inputs.ts';
import { modelsByIds, ratiosForAll, usersById } from '../lookups.ts';
import { DateTime, Decimal, Money } from '../graphql/scalars.ts';
import type { Summary } from '../usage/summary.service.ts';
import { timingSets } from '../usage/timing.service.ts';
import { UsageBucket, UsageSummary } from '../usage/usage.types.ts';
import type { DisabledReason, KeyRow, KeyState } from './key.entity.ts';
import { gracePeriodEnd } from './key.grace-period.ts';
import { currentDisabledReason } from './key.record.ts';
import {
  oldSecretUsesOfKeys,
  spendsOfKeys,
  summariesByKey,
  summaryKey,
  timingsByKey,
  totalsBeforeByKey,
  lastUsesOfKeys,
} from './key.usage.ts';
import { ApiKey, ApiKeyState, KeyDisabledReason, KeyRotation } from './key.type.ts';

/** Arguments of a key's usage summary. */
@ArgsType()
export class KeySummaryArguments {
  @Field(() => DateRange, { description: 'The time range, at most 400 days.' })
  range!: DateRange;

  @Field(() => UsageBucket, { nullable: true, description: 'Width of the points of `series`.' })
  bucket?: UsageBucket | null;
}

/** Fields of a key that are not columns, or whose value differs from the column. */
@Resolver(() => ApiKey)
export class KeyFields {
  @FieldResolver(() => String, {
    description: 'sk- and the first 4 characters of the secret; empty before the reveal.',
  })
  prefix(@Root() key: KeyRow): string {
    return key.prefix ?? '';
  }

  @FieldResolver(() => String, { description: 'Last 4 characters of the secret; empty before the reveal.' })
  suffix(@Root() key: KeyRow): string {
    return key.suffix ?? '';
  }

  @FieldResolver(() => ApiKeyState, { description: 'Whether the key works now.' })
  state(@Root() key: KeyRow): KeyState {
    return currentDisabledReason(key, new Date()) === null ? 'ENABLED' : 'DISABLED';
  }

  @FieldResolver(() => KeyDisabledReason, {
    nullable: true,
    description: 'Why the key does not work; null if it works.',
  })
  disabledReason(@Root() key: KeyRow): DisabledReason | null {
    return currentDisabledReason(key, new Date());
  }

  @FieldResolver(() => Decimal, { description: "Price ratio of the key's billing group." })
  async groupRatio(@Root() key: KeyRow, @Ctx() context: Context): Promise<string> {
    const ratios = await context.batches.load(ratiosForAll, '');
    const ratio = ratios?.find((row) => row.name === key.group);
    if (!ratio) throw new Error(`The billing group ${key.group} has no ratio. Set one in the console.`);
    return formatRatio(ratio.ratio);
  }

  @FieldResolver(() => User, { nullable: true, description: 'Owner of the key.' })
  async owner(@Root() key: KeyRow, @Ctx() context: Context): Promise<User | null> {
    return (await context.batches.load(usersById, key.ownerId)) ?? null;
  }

  @FieldResolver(() => [CatalogModel], {
    nullable: true,
    description: 'Models that the key may use; null for all.',
  })
  async allowedModels(@Root() key: KeyRow, @Ctx() context: Context): Promise<CatalogModel[] | null> {
    if (!key.allowedModelIds) return null;
    const models = key.allowedModelIds.map((id) => context.batches.load(modelsByIds, id));
    return (await Promise.all(models)).filter((model) => model !== undefined);
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'Time of the last request that a node reported.',
  })
  async lastUsedAt(@Root() key: KeyRow, @Ctx() context: Context): Promise<Date | null> {
    return (await context.batches.load(lastUsesOfKeys, key.id))?.lastUsedAt ?? null;
  }

  @FieldResolver(() => String, { nullable: true, description: 'Client IP of the last request.' })
  async lastUsedIp(@Root() key: KeyRow, @Ctx() context: Context): Promise<string | null> {
    return (await context.batches.load(lastUsesOfKeys, key.id))?.lastUsedIp ?? null;
  }

  @FieldResolver(() => Money, { description: 'Spend in this calendar month (UTC).' })
  async spentThisMonth(@Root() key: KeyRow, @Ctx() context: Context): Promise<bigint> {
    return (await context.batches.load(spendsOfKeys, key.id)) ?? 0n;
  }

  @FieldResolver(() => UsageSummary, {
    description: 'Totals of the requests with this key, and a series for a chart.',
  })
  async usageSummary(
    @Root() key: KeyRow,
    @Ctx() context: Context,
    @Args(() => KeySummaryArguments) { range, bucket }: KeySummaryArguments,
  ): Promise<Summary> {
    try {
      const batchKey = summaryKey(key.id, { range, bucket: bucket ?? null });
      const summary = await context.batches.load(summariesByKey, batchKey);
      if (!summary) throw new Error(`No summary was loaded for the key ${key.id}.`);
      return {
        ...summary,
        before: () => context.batches.load(totalsBeforeByKey, batchKey),
        timings: async () => (await context.batches.load(timingsByKey, batchKey)) ?? timingSets([]),
      };
    } catch (error) {
      if (error instanceof UserFailure) throw requestError('BAD_USER_INPUT', error.message);
      throw error;
    }
  }

  @FieldResolver(() => KeyRotation, { nullable: true, description: 'The rotation in progress, if any.' })
  rotation(@Root() key: KeyRow): KeyRotation | null {
    const keyId = key.id;
    if (typeof key.rotationGraceSeconds === 'number') {
      return { keyId, pendingReveal: true, previousSuffix: key.suffix ?? '', graceEndsAt: null };
    }
    const until = gracePeriodEnd(key, new Date());
    return until
      ? { keyId, pendingReveal: false, previousSuffix: key.previousSuffix ?? '', graceEndsAt: until }
      : null;
  }
}

/** The field of a rotation that needs a query. */
@Resolver(() => KeyRotation)
export class RotationFields {
  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Time of the last request with the old secret; after the reveal of the new one, only requests since ' +
      'then count. Null if there was none, so the old secret seems unused.',
  })
  async previousLastUsedAt(
    @Root() { keyId, pendingReveal }: KeyRotation,
    @Ctx() { batches }: Context,
  ): Promise<Date | null> {
    // Before the reveal the old secret is the only one, so every request used it.
    if (pendingReveal) return (await batches.load(lastUsesOfKeys, keyId))?.lastUsedAt ?? null;
    return (await batches.load(oldSecretUsesOfKeys, keyId)) ?? null;
  }
}
