/** Fields of a ledger entry on the API that need a look-up: reference, subject, reversal, owner and actor. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AuditActor } from '../audit/audit.resolver.ts';
import { isAdminFor } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { User } from '../accounts/user.type.ts';
import { ownersOfWallets, subdomainsOfPools, usersById } from '../lookups.ts';
import { entriesOfTransactions } from './entries.service.ts';
import type { EntryView } from './entries.service.ts';
import { LedgerSubject, subjectOf } from './entry.subject.ts';
import { LedgerEntry } from './wallet.types.ts';

const LABELS: Record<EntryView['actor']['kind'], string> = {
  USER: 'administrator',
  ACCESS_TOKEN: 'administrator',
  SYSTEM: 'system',
  NODE: 'gateway node',
  WEBHOOK: 'payment provider',
};

/** Fields that are resolved only if a query selects them. */
@Resolver(() => LedgerEntry)
export class EntryFields {
  @FieldResolver(() => String, {
    description: 'Unique reference of the transaction, e.g. the first of the requests settled together.',
  })
  reference(@Root() entry: EntryView, @Ctx() context: Context): string {
    // References of administrators contain idempotency keys that they chose; customers get the transaction
    // id.
    const isOthers = entry.actor.kind === 'USER' || entry.actor.kind === 'ACCESS_TOKEN';
    const isOwn = entry.actor.id === context.viewer?.id || isAdminFor(context, 'ADMIN_WALLET');
    return isOthers && !isOwn ? entry.transactionId : entry.reference;
  }

  @FieldResolver(() => LedgerSubject, {
    description: 'What the entry is about, as data. `description` says it in English.',
  })
  async subject(@Root() entry: EntryView, @Ctx() { batches }: Context): Promise<LedgerSubject> {
    return subjectOf(entry, async (id) => (await batches.load(subdomainsOfPools, id)) ?? null);
  }

  @FieldResolver(() => LedgerEntry, {
    nullable: true,
    description: 'The entry of the same wallet that this entry reverses.',
  })
  async reverses(@Root() entry: EntryView, @Ctx() context: Context): Promise<LedgerEntry | null> {
    if (entry.reversesId === null) return null;
    const key = lookupKeyOf(entry.walletId, entry.reversesId);
    const entries = (await context.batches.load(entriesByLookupKey, key)) ?? [];
    return entries.find((one) => one.bucket === entry.bucket) ?? entries[0] ?? null;
  }

  @FieldResolver(() => User, { nullable: true, description: 'The owner of the wallet.' })
  async owner(@Root() { walletId }: EntryView, @Ctx() { batches }: Context): Promise<User | null> {
    return (await batches.load(ownersOfWallets, walletId)) ?? null;
  }

  @FieldResolver(() => AuditActor, {
    description: 'Who moved the money; only administrators see the names of persons.',
  })
  async actor(@Root() { actor }: EntryView, @Ctx() context: Context): Promise<AuditActor> {
    const mayKnow = actor.id === context.viewer?.id || isAdminFor(context, 'ADMIN_WALLET');
    const isUser = actor.kind === 'USER' && actor.id !== null && mayKnow;
    const user = isUser ? await context.batches.load(usersById, actor.id ?? '') : undefined;
    return { kind: actor.kind, id: mayKnow ? actor.id : null, label: user?.email ?? LABELS[actor.kind] };
  }
}

function lookupKeyOf(walletId: string, transactionId: string): string {
  return `${walletId} ${transactionId}`;
}

async function entriesByLookupKey(
  em: EntityManager,
  keys: readonly string[],
): Promise<ReadonlyMap<string, EntryView[]>> {
  const wanted = keys.map((key) => {
    const [walletId = '', transactionId = ''] = key.split(' ');
    return { walletId, transactionId };
  });
  const entries = await entriesOfTransactions(em, wanted);
  return Map.groupBy(entries, (entry) => lookupKeyOf(entry.walletId, entry.transactionId));
}
