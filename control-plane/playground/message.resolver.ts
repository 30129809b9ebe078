/** GraphQL operations of messages: send, regenerate, stop, and follow a reply while it is written. */
import 'reflect-metadata';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { isUserErrorCode, outcome, requestError } from '../graphql/errors.ts';
import { IdInput } from '../graphql/inputs.ts';
import { usageOfRequests } from '../usage/usage.service.ts';
import type { UsageView } from '../usage/usage.service.ts';
import { UsageEntry } from '../usage/usage.types.ts';
import { chatContextOf } from './conversation.resolver.ts';
import { storedMessage } from './conversation.service.ts';
import { interrupted } from './remote-playground.ts';
import type { PartEvent, ReplyEvent } from './running-reply.ts';
import { regenerateReply, sendMessage, stopReply } from './message.service.ts';
import type { MessageContext } from './reply.service.ts';
import {
  Message,
  MessageCompleted,
  MessageFailed,
  MessagePayload,
  MessageReasoningDelta,
  MessageRegenerateInput,
  MessageSendInput,
  MessageSendPayload,
  MessageStreamEvent,
  MessageTextDelta,
} from './message.type.ts';

const NOTHING_SENT = { userMessage: null, reply: null, price: null, replayed: false };

/** Fields, mutations and subscription of messages. */
@Resolver(() => Message)
export class MessageResolver {
  @FieldResolver(() => UsageEntry, {
    nullable: true,
    description: 'Usage and cost of the reply; null until a node has reported it, shortly after the end.',
  })
  async usage(@Root() message: Message, @Ctx() context: Context): Promise<UsageEntry | null> {
    if (!message.requestId) return null;
    const key = `${viewerOf(context).id} ${message.requestId}`;
    return (await context.batches.load(usageOfReplies, key)) ?? null;
  }

  @Authorized('USER')
  @Mutation(() => MessageSendPayload, {
    description: 'Sends a message. The reply is written to its end even if the browser disconnects.',
  })
  messageSend(
    @Ctx() context: Context,
    @Arg('input', () => MessageSendInput, { description: 'The message.' }) input: MessageSendInput,
  ): Promise<MessageSendPayload> {
    return outcome(NOTHING_SENT, () => sendMessage(messageContextOf(context), input));
  }

  @Authorized('USER')
  @Mutation(() => MessageSendPayload, {
    description: 'Writes another reply to a question of a stored chat. The earlier reply is kept.',
  })
  messageRegenerate(
    @Ctx() context: Context,
    @Arg('input', () => MessageRegenerateInput, { description: 'The reply.' }) input: MessageRegenerateInput,
  ): Promise<MessageSendPayload> {
    return outcome(NOTHING_SENT, () => regenerateReply(messageContextOf(context), input));
  }

  @Authorized('USER')
  @Mutation(() => MessagePayload, {
    description: 'Stops a reply. The text so far is kept. A reply that has started is charged.',
  })
  messageStop(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The reply.' }) input: IdInput,
  ): Promise<MessagePayload> {
    return outcome({ message: null }, async () => ({
      message: await stopReply(messageContextOf(context), input.id),
    }));
  }

  @Authorized('USER')
  @Subscription(() => MessageStreamEvent, {
    subscribe: ({ args, context }) => follow(context as Context, args as FollowArguments),
    description: 'Events of one reply: first the text so far in one piece, then new text, and last the end.',
  })
  messageStream(
    @Root() event: ReplyEvent,
    @Arg('messageId', () => ID, { description: 'The reply.' }) _messageId: string,
    @Arg('afterSeq', () => Int, {
      defaultValue: 0,
      description: 'The seq of the last event already received; 0 for none.',
    })
    _afterSeq: number,
  ): typeof MessageStreamEvent {
    return eventView(event);
  }
}

/** Usage by `userId requestId`. All keys of one operation have the same user, the caller. */
async function usageOfReplies(
  em: EntityManager,
  keys: readonly string[],
): Promise<ReadonlyMap<string, UsageView>> {
  const [userId = ''] = keys[0]?.split(' ') ?? [];
  const requestIds = keys.map((key) => key.slice(userId.length + 1));
  const found = await usageOfRequests(em, requestIds, userId);
  return new Map([...found].map(([requestId, entry]) => [`${userId} ${requestId}`, entry]));
}

interface FollowArguments {
  messageId: string;
  afterSeq?: number;
}

/** The events of a reply that ended earlier: only its end. */
async function* ended(event: ReplyEvent): AsyncGenerator<ReplyEvent> {
  yield event;
}

async function follow(
  context: Context,
  { messageId, afterSeq = 0 }: FollowArguments,
): Promise<AsyncIterable<ReplyEvent>> {
  const chats = chatContextOf(context);
  const { playground, userId } = chats;
  const events = await playground.follow(userId, messageId, afterSeq);
  if (events) return events;
  const message = await storedMessage(chats, messageId);
  if (!message)
    throw requestError('FORBIDDEN', 'Unknown reply, or it is no longer kept. Send the message again.');
  if (message.state === 'STREAMING') return ended(interrupted(message, afterSeq + 1));
  const { errorCode, error } = message;
  const code = isUserErrorCode(errorCode) ? errorCode : 'UPSTREAM_FAILED';
  const failure = { code, message: error ?? '', retryable: true };
  return ended(
    message.state === 'FAILED'
      ? { kind: 'failed', seq: afterSeq + 1, message, failure }
      : { kind: 'completed', seq: afterSeq + 1, message },
  );
}

function eventView(event: ReplyEvent): typeof MessageStreamEvent {
  switch (event.kind) {
    case 'text':
      return Object.assign(new MessageTextDelta(), partOf(event));
    case 'reasoning':
      return Object.assign(new MessageReasoningDelta(), partOf(event));
    case 'completed':
      return Object.assign(new MessageCompleted(), { seq: event.seq, message: event.message });
    case 'failed':
      return Object.assign(new MessageFailed(), {
        seq: event.seq,
        message: event.message,
        errorCode: event.failure.code,
        error: { code: event.failure.code, message: event.failure.message },
        retryable: event.failure.retryable,
      });
  }
}

function partOf({ after, seq, text }: PartEvent): Omit<PartEvent, 'kind'> {
  return { after, seq, text };
}

function messageContextOf(context: Context): MessageContext {
  const { settings, nodeFeed, ip } = context;
  return { ...chatContextOf(context), settings, nodeFeed, ip };
}
