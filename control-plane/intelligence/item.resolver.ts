/** GraphQL operations of items. Only their user can read or change them; administrators cannot. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Int, Mutation, Resolver, Root } from 'type-graphql';
import { modelByName, PUBLIC_STATES } from '../catalog/catalog.service.ts';
import { connectionFrom, positionOf, rowsAt } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { actorOf, Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserFailure } from '../graphql/errors.ts';
import { DateTime } from '../graphql/scalars.ts';
import { Conversation } from '../playground/conversation.type.ts';
import { DELETE_ALL_WORD } from '../playground/conversation.service.ts';
import { queueState } from './deriving/queue.ts';
import { forgetEverything } from './forget.service.ts';
import { injectionFor } from './injection/injection.service.ts';
import { countItemsOf, findItems, itemsOfChat, lastReadAt, sourcesOf } from './item.queries.ts';
import { createItem, deleteAllItems, deleteItems, itemById, updateItem } from './item.service.ts';
import type { ItemContext } from './item.service.ts';
import {
  DerivedItem,
  DerivedItemConnection,
  DerivedItemCreateInput,
  DerivedItemDeleteInput,
  DerivedItemPayload,
  DerivedItemsDeleteAllInput,
  DerivedItemUpdateInput,
  ForgetEverythingInput,
  InjectionPreview,
  ItemArguments,
  ItemSource,
  PreviewArguments,
} from './item.type.ts';
import { personalSettings } from './personal.settings.ts';
import { personalIntelligenceOf } from './switch.service.ts';
import { PersonalIntelligence, PersonalIntelligencePayload, PersonalSwitch } from './switch.type.ts';

const CURSORS = cursorsOf('items', 'TEXT');

const IDS_MAX = 100;
const DRAFT_LENGTH_MAX = 20_000;
/** The word to type before everything is forgotten. */
const FORGET_WORD = 'FORGET';
const FAILED = { personalIntelligence: null };

/** Number of items of a switch. */
@Resolver(() => PersonalSwitch)
export class SwitchItemsResolver {
  @FieldResolver(() => Int, { description: 'Number of items of this kind.' })
  async itemCount(@Root() { kind }: PersonalSwitch, @Ctx() context: Context): Promise<number> {
    const counts = await context.batches.load(countItemsOf, viewerOf(context).id);
    return counts?.get(kind) ?? 0;
  }
}

/** Items, preview and state of Personal Intelligence. */
@Resolver(() => PersonalIntelligence)
export class PersonalItemsResolver {
  @FieldResolver(() => DerivedItemConnection, {
    description: 'What is known, pinned items first, then the most recently confirmed.',
  })
  async items(
    @Root() { userId }: PersonalIntelligence,
    @Ctx() { em, playground }: Context,
    @Args(() => ItemArguments) list: ItemArguments,
  ): Promise<Connection<DerivedItem>> {
    const { kinds = null, search = null } = list;
    const position = positionOf(list, CURSORS);
    const all = await findItems(em, await playground.keys.find(userId), { userId, kinds, search });
    return connectionFrom(
      rowsAt(all, position, ({ id }, [at]) => id === at),
      {
        position,
        totalCount: all.length,
        cursor: ({ id }) => CURSORS.encode([id]),
        node: (item): DerivedItem => item,
      },
    );
  }

  @FieldResolver(() => InjectionPreview, {
    nullable: true,
    description: 'What would be sent with a draft as the first message of a chat. Null for an unknown model.',
  })
  async injectionPreview(
    @Root() { userId }: PersonalIntelligence,
    @Ctx() { em, playground }: Context,
    @Args(() => PreviewArguments) { modelName, draft }: PreviewArguments,
  ): Promise<InjectionPreview | null> {
    const model = await modelByName(em, modelName, PUBLIC_STATES);
    if (!model) return null;
    const request = { userId, model, draft: draft.slice(0, DRAFT_LENGTH_MAX), conversationId: null };
    return injectionFor({ em, keys: playground.keys }, { ...request, isFirst: true });
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When something was last learned; null for never.',
  })
  lastAnalysedAt(@Root() { userId }: PersonalIntelligence, @Ctx() { em }: Context): Promise<Date | null> {
    return lastReadAt(em, userId);
  }

  @FieldResolver(() => Int, { description: 'Chats that wait to be read.' })
  async pendingJobs(@Root() { userId }: PersonalIntelligence, @Ctx() { em }: Context): Promise<number> {
    return (await queueState(em, userId)).waiting;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'Name of the model that reads chats; null if none was chosen, then nothing is learned.',
  })
  async readingModel(@Ctx() { em }: Context): Promise<string | null> {
    return (await personalSettings(em)).modelName;
  }
}

/** Fields and mutations of items. */
@Resolver(() => DerivedItem)
export class ItemResolver {
  @FieldResolver(() => [ItemSource], {
    description: 'The newest messages from which it was learned, at most 20. None if the user wrote it.',
  })
  async sources(@Root() item: DerivedItem, @Ctx() { em, playground }: Context): Promise<ItemSource[]> {
    return sourcesOf(em, await playground.keys.find(item.userId), item);
  }

  @Authorized('USER')
  @Mutation(() => DerivedItemPayload, { description: 'Adds an item that the user writes.' })
  derivedItemCreate(
    @Ctx() context: Context,
    @Arg('input', () => DerivedItemCreateInput, { description: 'The item.' }) input: DerivedItemCreateInput,
  ): Promise<DerivedItemPayload> {
    return outcome({ item: null }, async () => ({ item: await createItem(itemContextOf(context), input) }));
  }

  @Authorized('USER')
  @Mutation(() => DerivedItemPayload, {
    description: 'Changes an item. Learning does not change a text that the user edited.',
  })
  derivedItemUpdate(
    @Ctx() context: Context,
    @Arg('input', () => DerivedItemUpdateInput, { description: 'The change.' }) input: DerivedItemUpdateInput,
  ): Promise<DerivedItemPayload> {
    return outcome({ item: null }, async () => ({ item: await updateItem(itemContextOf(context), input) }));
  }

  @Authorized('USER')
  @Mutation(() => PersonalIntelligencePayload, { description: 'Deletes items immediately and permanently.' })
  derivedItemDelete(
    @Ctx() context: Context,
    @Arg('input', () => DerivedItemDeleteInput, { description: 'The items.' }) input: DerivedItemDeleteInput,
  ): Promise<PersonalIntelligencePayload> {
    return changed(context, async (items) => {
      requireFew(input.ids);
      await deleteItems(items, input);
    });
  }

  @Authorized('USER')
  @Mutation(() => PersonalIntelligencePayload, {
    description: 'Deletes all items, or all of some kinds, immediately and permanently.',
  })
  derivedItemsDeleteAll(
    @Ctx() context: Context,
    @Arg('input', () => DerivedItemsDeleteAllInput, { description: 'The confirmation.' })
    { confirm, kinds = null }: DerivedItemsDeleteAllInput,
  ): Promise<PersonalIntelligencePayload> {
    return changed(context, async (items) => {
      requireWord(confirm, DELETE_ALL_WORD);
      await deleteAllItems(items, kinds, actorOf(context));
    });
  }

  @Authorized('USER')
  @Mutation(() => PersonalIntelligencePayload, {
    description:
      'Deletes all chats and items, turns all switches off, and destroys the key under which they were ' +
      'encrypted. A backup without the table of keys cannot be read any more.',
  })
  personalForgetEverything(
    @Ctx() context: Context,
    @Arg('input', () => ForgetEverythingInput, { description: 'The confirmation.' })
    { confirm }: ForgetEverythingInput,
  ): Promise<PersonalIntelligencePayload> {
    return changed(context, async (items) => {
      requireWord(confirm, FORGET_WORD);
      await context.playground.forget(items.userId);
      await forgetEverything(items, actorOf(context));
    });
  }
}

/** Items of a chat. */
@Resolver(() => Conversation)
export class ChatItemsResolver {
  @FieldResolver(() => [DerivedItem], { description: 'What was learned from this chat.' })
  async derivedItems(
    @Root() { id, userId }: Conversation,
    @Ctx() { em, playground }: Context,
  ): Promise<DerivedItem[]> {
    return itemsOfChat(em, await playground.keys.find(userId), { userId, conversationId: id });
  }
}

/** The caller's item; null if it does not exist or belongs to somebody else. */
export async function ownItem(context: Context, id: string): Promise<DerivedItem | null> {
  if (!context.viewer) return null;
  return itemById(itemContextOf(context), id).catch((error: unknown) => {
    if (error instanceof UserFailure) return null;
    throw error;
  });
}

function itemContextOf(context: Context): ItemContext {
  return { em: context.em, keys: context.playground.keys, userId: viewerOf(context).id };
}

/** Changes items of the caller. Returns the payload of their Personal Intelligence after that. */
export function changed(
  context: Context,
  work: (items: ItemContext) => Promise<void>,
): Promise<PersonalIntelligencePayload> {
  return outcome(FAILED, async () => {
    const items = itemContextOf(context);
    await work(items);
    return { personalIntelligence: await personalIntelligenceOf(items.em, items.userId) };
  });
}

/** Throws LIMIT_REACHED if there are more ids than a mutation takes. */
export function requireFew(ids: readonly string[]): void {
  if (ids.length > IDS_MAX)
    throw new UserFailure('LIMIT_REACHED', `Name at most ${IDS_MAX} items at once.`, 'ids');
}

function requireWord(given: string, word: string): void {
  if (given !== word) throw new UserFailure('INVALID', `Type ${word} to confirm.`, 'confirm');
}
