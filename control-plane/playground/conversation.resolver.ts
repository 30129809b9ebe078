/** GraphQL operations of chats. Only their user can read or change them; administrators cannot. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Float, Int, Mutation, Resolver, Root } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { findModels, PUBLIC_STATES } from '../catalog/catalog.service.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import { connectionFrom, LongPageArguments, positionOf, rowsAt } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, requestError, UserFailure } from '../graphql/errors.ts';
import { isStoring, personalIntelligenceOf } from '../intelligence/switch.service.ts';
import { PersonalIntelligence } from '../intelligence/switch.type.ts';
import { ModelSchema } from '../catalog/model.entity.ts';
import {
  countConversations,
  createConversation,
  DELETE_ALL_WORD,
  deleteAllConversations,
  deleteConversation,
  messagesOf,
  renameConversation,
  storedConversations,
} from './conversation.service.ts';
import type { ChatContext } from './conversation.service.ts';
import {
  Conversation,
  ConversationArguments,
  ConversationConnection,
  ConversationCreateInput,
  ConversationDeleteInput,
  ConversationDeletePayload,
  ConversationPayload,
  ConversationsDeleteAllInput,
  PlaygroundHome,
  RenameInput,
} from './conversation.type.ts';
import { Message, MessageConnection } from './message.type.ts';
import { storageUsed } from './storage.ts';

const CHATS = cursorsOf('conversations', 'TIME', 'TEXT');
const MESSAGES = cursorsOf('messages', 'TEXT');

const NOTHING_DELETED = { deletedIds: [], deletedItemCount: 0 };

/** The Playground of the signed-in user. */
@Resolver(() => User)
export class UserPlaygroundResolver {
  @FieldResolver(() => PlaygroundHome, {
    description: 'The Playground of the user. Only the user may read it; administrators may not.',
  })
  async playground(@Root() user: User, @Ctx() context: Context): Promise<PlaygroundHome> {
    if (user.id !== viewerOf(context).id)
      throw requestError('FORBIDDEN', 'Only the user may read their chats.');
    return { userId: user.id, storing: await isStoring(context.em, user.id) };
  }
}

/** Fields of the Playground: stored chats and the default model. */
@Resolver(() => PlaygroundHome)
export class PlaygroundHomeResolver {
  @FieldResolver(() => ConversationConnection, { description: 'Stored chats, the most recently used first.' })
  async conversations(
    @Root() { userId }: PlaygroundHome,
    @Ctx() context: Context,
    @Args(() => ConversationArguments) list: ConversationArguments,
  ): Promise<Connection<Conversation>> {
    const position = positionOf(list, CHATS);
    const filter = { userId, search: list.search ?? null };
    return connectionFrom(await storedConversations(context, filter, position), {
      position,
      totalCount: () => countConversations(context, filter),
      cursor: (row) => CHATS.encode([row.updatedAt.toISOString(), row.id]),
      node: (row): Conversation => row,
    });
  }

  @FieldResolver(() => CatalogModel, { nullable: true, description: 'Model to preselect for a new chat.' })
  async defaultModel(@Ctx() { em }: Context): Promise<CatalogModel | null> {
    const states = PUBLIC_STATES;
    const found = await findModels(em, { states, tiers: ['balanced'], group: 'default' }, { limit: 1 });
    return found[0] ?? (await findModels(em, { states, group: 'default' }, { limit: 1 }))[0] ?? null;
  }
}

/** Fields and mutations of chats. */
@Resolver(() => Conversation)
export class ConversationResolver {
  @FieldResolver(() => CatalogModel, {
    nullable: true,
    description: 'Model of the chat; null if it no longer exists.',
  })
  model(@Root() { modelName }: Conversation, @Ctx() { em }: Context): Promise<CatalogModel | null> {
    return em.findOne(ModelSchema, { name: modelName });
  }

  @FieldResolver(() => MessageConnection, {
    description: 'Messages, oldest first. For a chat that is not stored, at most the last two.',
  })
  async messages(
    @Root() conversation: Conversation,
    @Ctx() context: Context,
    @Args(() => LongPageArguments) page: LongPageArguments,
  ): Promise<Connection<Message>> {
    const position = positionOf(page, MESSAGES);
    const all = await messagesOf(chatContextOf(context), conversation.id);
    return connectionFrom(
      rowsAt(all, position, ({ id }, [at]) => id === at),
      {
        position,
        totalCount: all.length,
        cursor: (message) => MESSAGES.encode([message.id]),
        node: (message): Message => message,
      },
    );
  }

  @Authorized('USER')
  @Mutation(() => ConversationPayload, {
    description: 'Creates a chat. It is not stored before its first message.',
  })
  conversationCreate(
    @Ctx() context: Context,
    @Arg('input', () => ConversationCreateInput, { description: 'The chat.' }) input: ConversationCreateInput,
  ): Promise<ConversationPayload> {
    return outcome({ conversation: null }, async () => ({
      conversation: await createConversation(chatContextOf(context), input),
    }));
  }

  @Authorized('USER')
  @Mutation(() => ConversationPayload, { description: 'Changes the title of a chat.' })
  conversationRename(
    @Ctx() context: Context,
    @Arg('input', () => RenameInput, { description: 'The title.' }) input: RenameInput,
  ): Promise<ConversationPayload> {
    return outcome({ conversation: null }, async () => ({
      conversation: await renameConversation(chatContextOf(context), input),
    }));
  }

  @Authorized('USER')
  @Mutation(() => ConversationDeletePayload, {
    description: 'Deletes a chat immediately and permanently, and stops a reply that is being written in it.',
  })
  conversationDelete(
    @Ctx() context: Context,
    @Arg('input', () => ConversationDeleteInput, { description: 'The chat.' })
    { id, deleteDerivedItems: items }: ConversationDeleteInput,
  ): Promise<ConversationDeletePayload> {
    return outcome(NOTHING_DELETED, async () => {
      const deletedItemCount = await deleteConversation(chatContextOf(context), { id, items });
      const personalIntelligence = await personalIntelligenceOf(context.em, viewerOf(context).id);
      return { deletedIds: [id], deletedItemCount, personalIntelligence };
    });
  }

  @Authorized('USER')
  @Mutation(() => ConversationDeletePayload, {
    description: 'Deletes all chats of the caller immediately and permanently.',
  })
  conversationsDeleteAll(
    @Ctx() context: Context,
    @Arg('input', () => ConversationsDeleteAllInput, { description: 'The confirmation.' })
    { confirm, deleteDerivedItems: items }: ConversationsDeleteAllInput,
  ): Promise<ConversationDeletePayload> {
    return outcome(NOTHING_DELETED, async () => {
      if (confirm !== DELETE_ALL_WORD)
        throw new UserFailure('INVALID', `Type ${DELETE_ALL_WORD} to confirm.`, 'confirm');
      const { ids, deletedItems } = await deleteAllConversations(chatContextOf(context), { items });
      const personalIntelligence = await personalIntelligenceOf(context.em, viewerOf(context).id);
      return { deletedIds: ids, deletedItemCount: deletedItems, personalIntelligence };
    });
  }
}

/** Fields of Personal Intelligence about stored chats. */
@Resolver(() => PersonalIntelligence)
export class PersonalChatsResolver {
  @FieldResolver(() => Float, {
    description:
      'Used share of the storage for chats, from 0 to 1: of 1,000 chats or of 500 MB, whichever share is ' +
      'larger. At 1, messages that would have to be stored are refused.',
  })
  storageUsed(@Root() { userId }: PersonalIntelligence, @Ctx() { em }: Context): Promise<number> {
    return storageUsed(em, userId);
  }

  @FieldResolver(() => Int, { description: 'Number of stored chats.' })
  storedConversationCount(
    @Root() { userId }: PersonalIntelligence,
    @Ctx() context: Context,
  ): Promise<number> {
    return countConversations(context, { userId });
  }
}

/** The context of operations on the caller's chats. */
export function chatContextOf(context: Context): ChatContext {
  return { em: context.em, playground: context.playground, userId: viewerOf(context).id };
}
