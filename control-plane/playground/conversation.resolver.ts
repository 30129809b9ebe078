/** Chats on the API: nobody but their user sees them, administrators included. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Float, Int, Mutation, Resolver, Root } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { findModels, PUBLIC_STATES } from '../catalog/catalog.service.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import { connectionFrom, decodeCursor, encodeCursor, LongPageArguments, pageSize } from '../connections.ts';
import type { Connection } from '../connections.ts';
import { Authorized, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, requestError, UserFailure } from '../errors.ts';
import { isStoring, switchesOf } from '../intelligence/switch.service.ts';
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
import type { Place } from './conversation.service.ts';
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

/** The Playground of the signed-in user. */
@Resolver(() => User)
export class UserPlaygroundResolver {
  @FieldResolver(() => PlaygroundHome, {
    description: 'The Playground; for the user alone, administrators are refused.',
  })
  async playground(@Root() user: User, @Ctx() context: Context): Promise<PlaygroundHome> {
    if (user.id !== viewerOf(context).id) throw requestError('FORBIDDEN', 'Chats are for their user alone.');
    return { userId: user.id, storing: await isStoring(context.em, user.id) };
  }
}

/** What hangs on the Playground. */
@Resolver(() => PlaygroundHome)
export class PlaygroundHomeResolver {
  @FieldResolver(() => ConversationConnection, { description: 'Stored chats, the last used first.' })
  async conversations(
    @Root() { userId }: PlaygroundHome,
    @Ctx() { em }: Context,
    @Args(() => ConversationArguments) asked: ConversationArguments,
  ): Promise<Connection<Conversation>> {
    const first = pageSize(asked.first);
    const wanted = { userId, search: asked.search ?? null };
    const [at, id] = decodeCursor(asked.after, 2) ?? [];
    const after = typeof at === 'string' && typeof id === 'string' ? { at, id } : undefined;
    return connectionFrom(await storedConversations(em, wanted, { after, limit: first + 1 }), {
      first,
      after: asked.after,
      totalCount: () => countConversations(em, wanted),
      cursor: (row) => encodeCursor([row.updatedAt.toISOString(), row.id]),
      node: (row): Conversation => row,
    });
  }

  @FieldResolver(() => CatalogModel, { nullable: true, description: 'The model a first chat begins with.' })
  async defaultModel(@Ctx() { em }: Context): Promise<CatalogModel | null> {
    const states = PUBLIC_STATES;
    const found = await findModels(em, { states, tiers: ['balanced'], group: 'default' }, { limit: 1 });
    return found[0] ?? (await findModels(em, { states, group: 'default' }, { limit: 1 }))[0] ?? null;
  }
}

/** Chats and what changes them. */
@Resolver(() => Conversation)
export class ConversationResolver {
  @FieldResolver(() => CatalogModel, { nullable: true, description: 'Its model; null when it is gone.' })
  model(@Root() { modelName }: Conversation, @Ctx() { em }: Context): Promise<CatalogModel | null> {
    return em.findOne(ModelSchema, { name: modelName });
  }

  @FieldResolver(() => MessageConnection, {
    description: 'Messages in the order they were sent; of a chat that is not stored the last two at most.',
  })
  async messages(
    @Root() conversation: Conversation,
    @Ctx() context: Context,
    @Args(() => LongPageArguments) asked: LongPageArguments,
  ): Promise<Connection<Message>> {
    const first = pageSize(asked.first);
    const all = await messagesOf(placeOf(context), conversation.id);
    const [after] = decodeCursor(asked.after, 1) ?? [];
    const rest = typeof after === 'string' ? all.filter((message) => message.id > after) : all;
    return connectionFrom(rest, {
      first,
      after: asked.after,
      totalCount: all.length,
      cursor: (message) => encodeCursor([message.id]),
      node: (message): Message => message,
    });
  }

  @Authorized('USER')
  @Mutation(() => ConversationPayload, {
    description: 'Begins a chat. Nothing of it is stored before its first message.',
  })
  conversationCreate(
    @Ctx() context: Context,
    @Arg('input', () => ConversationCreateInput, { description: 'The chat.' }) input: ConversationCreateInput,
  ): Promise<ConversationPayload> {
    return outcome({ conversation: null }, async () => ({
      conversation: await createConversation(placeOf(context), input),
    }));
  }

  @Authorized('USER')
  @Mutation(() => ConversationPayload, { description: 'Gives a chat another title.' })
  conversationRename(
    @Ctx() context: Context,
    @Arg('input', () => RenameInput, { description: 'The title.' }) input: RenameInput,
  ): Promise<ConversationPayload> {
    return outcome({ conversation: null }, async () => ({
      conversation: await renameConversation(placeOf(context), input),
    }));
  }

  @Authorized('USER')
  @Mutation(() => ConversationDeletePayload, {
    description: 'Deletes a chat everywhere at once; a reply being written in it is stopped.',
  })
  conversationDelete(
    @Ctx() context: Context,
    @Arg('input', () => ConversationDeleteInput, { description: 'The chat.' })
    { id }: ConversationDeleteInput,
  ): Promise<ConversationDeletePayload> {
    return outcome({ deletedIds: [] }, async () => {
      await deleteConversation(placeOf(context), id);
      return { deletedIds: [id], personalIntelligence: await personalIntelligenceOf(context) };
    });
  }

  @Authorized('USER')
  @Mutation(() => ConversationDeletePayload, { description: 'Deletes all chats everywhere at once.' })
  conversationsDeleteAll(
    @Ctx() context: Context,
    @Arg('input', () => ConversationsDeleteAllInput, { description: 'The confirmation.' })
    { confirm }: ConversationsDeleteAllInput,
  ): Promise<ConversationDeletePayload> {
    return outcome({ deletedIds: [] }, async () => {
      if (confirm !== DELETE_ALL_WORD)
        throw new UserFailure('INVALID', `Type ${DELETE_ALL_WORD} to confirm.`, 'confirm');
      const deletedIds = await deleteAllConversations(placeOf(context));
      return { deletedIds, personalIntelligence: await personalIntelligenceOf(context) };
    });
  }
}

/** What Personal Intelligence says of chats. */
@Resolver(() => PersonalIntelligence)
export class PersonalChatsResolver {
  @FieldResolver(() => Float, {
    description:
      'How much of the room for stored chats is taken, from 0 to 1: by their number, at most 1,000, or by ' +
      'their size, at most 500 MB, whichever is more. Beyond it messages that would be stored are refused.',
  })
  storageUsed(@Root() { userId }: PersonalIntelligence, @Ctx() { em }: Context): Promise<number> {
    return storageUsed(em, userId);
  }

  @FieldResolver(() => Int, { description: 'How many chats are stored now.' })
  storedConversationCount(@Root() { userId }: PersonalIntelligence, @Ctx() { em }: Context): Promise<number> {
    return countConversations(em, { userId });
  }
}

/** Whose chats an operation is about, and where they are. */
export function placeOf(context: Context): Place {
  return { em: context.em, playground: context.playground, userId: viewerOf(context).id };
}

async function personalIntelligenceOf(context: Context): Promise<PersonalIntelligence> {
  const { id } = viewerOf(context);
  const switches = await switchesOf(context.em, id);
  return { userId: id, switches, storing: switches.some((item) => item.enabled) };
}
