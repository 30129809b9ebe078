/** Fields of a key that are computed when asked for. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { formatRatio } from '@gateway/shared/money';
import { userById } from '../accounts/account.service.ts';
import { User } from '../accounts/user.type.ts';
import { groupRatios, modelsById } from '../catalog/catalog.service.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import type { Context } from '../context.ts';
import { DateTime, Decimal, Money } from '../scalars.ts';
import type { DisabledReason, KeyRow, KeyState } from './key.entity.ts';
import { spentThisMonth, useOf } from './key.queries.ts';
import { reasonOf } from './key.record.ts';
import { ApiKey, ApiKeyState, KeyDisabledReason, KeyRotation } from './key.type.ts';

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
    const ratio = (await groupRatios(context.em)).find((row) => row.name === key.group);
    if (!ratio) throw new Error(`The group ${key.group} has no ratio.`);
    return formatRatio(ratio.ratio);
  }

  @FieldResolver(() => User, { nullable: true, description: 'Whose key it is.' })
  owner(@Root() key: KeyRow, @Ctx() context: Context): Promise<User> {
    return userById(context.em, key.ownerId);
  }

  @FieldResolver(() => [CatalogModel], {
    nullable: true,
    description: 'The only models it may use; null means all of its group.',
  })
  allowedModels(@Root() key: KeyRow, @Ctx() context: Context): Promise<CatalogModel[]> | null {
    return key.allowedModelIds ? modelsById(context.em, key.allowedModelIds) : null;
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'Last request that a node reported.' })
  async lastUsedAt(@Root() key: KeyRow, @Ctx() context: Context): Promise<Date | null> {
    return (await useOf(context.em, key.id)).lastUsedAt;
  }

  @FieldResolver(() => String, { nullable: true, description: 'The address that request came from.' })
  async lastUsedIp(@Root() key: KeyRow, @Ctx() context: Context): Promise<string | null> {
    return (await useOf(context.em, key.id)).lastUsedIp;
  }

  @FieldResolver(() => Money, { description: 'What it spent in this calendar month (UTC).' })
  spentThisMonth(@Root() key: KeyRow, @Ctx() context: Context): Promise<bigint> {
    return spentThisMonth(context.em, key.id);
  }

  @FieldResolver(() => KeyRotation, { nullable: true, description: 'A rotation that is under way.' })
  rotation(@Root() key: KeyRow): KeyRotation | null {
    if (typeof key.rotationGraceSeconds === 'number') {
      return { pendingReveal: true, previousSuffix: key.suffix ?? '', graceEndsAt: null };
    }
    const until =
      key.previousDigest && key.previousUntil && key.previousUntil > new Date() ? key.previousUntil : null;
    return until
      ? { pendingReveal: false, previousSuffix: key.previousSuffix ?? '', graceEndsAt: until }
      : null;
  }
}
