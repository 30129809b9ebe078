/** What an entry of the ledger points to: the entry it takes back, and who moved the money. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AuditActor } from '../audit/audit.resolver.ts';
import { isAdminFor } from '../context.ts';
import type { Context } from '../context.ts';
import { usersById } from '../lookups.ts';
import { entriesOfTransactions } from './entries.service.ts';
import type { EntryView } from './entries.service.ts';
import { LedgerEntry } from './wallet.types.ts';

const LABELS: Record<EntryView['actor']['kind'], string> = {
  USER: 'administrator',
  ACCESS_TOKEN: 'administrator',
  SYSTEM: 'system',
  NODE: 'gateway node',
  WEBHOOK: 'payment provider',
};

/** Fields that most lists do not ask for. */
@Resolver(() => LedgerEntry)
export class EntryFields {
  @FieldResolver(() => String, {
    description: 'What the movement is unique by, e.g. the first of the requests that were settled together.',
  })
  reference(@Root() entry: EntryView, @Ctx() context: Context): string {
    // Keys that administrators chose are theirs; customers see the movement that they made.
    const isOthers = entry.actor.kind === 'USER' || entry.actor.kind === 'ACCESS_TOKEN';
    const isOwn = entry.actor.id === context.viewer?.id || isAdminFor(context, 'ADMIN_WALLET');
    return isOthers && !isOwn ? entry.transactionId : entry.reference;
  }

  @FieldResolver(() => LedgerEntry, {
    nullable: true,
    description: 'The entry of the same wallet that this one takes back.',
  })
  async reverses(@Root() entry: EntryView, @Ctx() context: Context): Promise<LedgerEntry | null> {
    if (entry.reversesId === null) return null;
    const place = placeOf(entry.walletId, entry.reversesId);
    const entries = (await context.batches.load(entriesByPlace, place)) ?? [];
    return entries.find((one) => one.bucket === entry.bucket) ?? entries[0] ?? null;
  }

  @FieldResolver(() => AuditActor, { description: 'Who moved the money; persons by name to administrators.' })
  async actor(@Root() { actor }: EntryView, @Ctx() context: Context): Promise<AuditActor> {
    const mayKnow = actor.id === context.viewer?.id || isAdminFor(context, 'ADMIN_WALLET');
    const isUser = actor.kind === 'USER' && actor.id !== null && mayKnow;
    const user = isUser ? await context.batches.load(usersById, actor.id ?? '') : undefined;
    return { kind: actor.kind, id: mayKnow ? actor.id : null, label: user?.email ?? LABELS[actor.kind] };
  }
}

function placeOf(walletId: string, transactionId: string): string {
  return `${walletId} ${transactionId}`;
}

async function entriesByPlace(
  em: EntityManager,
  places: readonly string[],
): Promise<ReadonlyMap<string, EntryView[]>> {
  const wanted = places.map((place) => {
    const [walletId = '', transactionId = ''] = place.split(' ');
    return { walletId, transactionId };
  });
  const entries = await entriesOfTransactions(em, wanted);
  return Map.groupBy(entries, (entry) => placeOf(entry.walletId, entry.transactionId));
}
