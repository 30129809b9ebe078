/** Messages on the API: sending, stopping, repeating, and following a reply while it is written. */
import 'reflect-metadata';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { Authorized, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { isUserErrorCode, outcome, requestError } from '../errors.ts';
import { IdInput } from '../inputs.ts';
import { usageOfRequests } from '../usage/usage.service.ts';
import type { UsageView } from '../usage/usage.service.ts';
import { UsageEntry } from '../usage/usage.types.ts';
import { placeOf } from './conversation.resolver.ts';
import { storedMessage } from './conversation.service.ts';
import { brokenOff } from './elsewhere.ts';
import type { PartEvent, ReplyEvent } from './live-reply.ts';
import { repeatReply, sendMessage, stopReply } from './message.service.ts';
import type { Scene } from './message.service.ts';
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

/** What happens to messages. */
@Resolver(() => Message)
export class MessageResolver {
  @FieldResolver(() => UsageEntry, {
    nullable: true,
    description: 'What it cost; null until nodes have reported it, a moment after the end.',
  })
  async usage(@Root() message: Message, @Ctx() context: Context): Promise<UsageEntry | null> {
    if (!message.requestId) return null;
    const key = `${viewerOf(context).id} ${message.requestId}`;
    return (await context.batches.load(usageOfReplies, key)) ?? null;
  }

  @Authorized('USER')
  @Mutation(() => MessageSendPayload, {
    description: 'Sends a message. The reply goes on by itself, also when the browser leaves.',
  })
  messageSend(
    @Ctx() context: Context,
    @Arg('input', () => MessageSendInput, { description: 'The message.' }) input: MessageSendInput,
  ): Promise<MessageSendPayload> {
    return outcome(NOTHING_SENT, () => sendMessage(sceneOf(context), input));
  }

  @Authorized('USER')
  @Mutation(() => MessageSendPayload, { description: 'Writes another reply to a question of a stored chat.' })
  messageRegenerate(
    @Ctx() context: Context,
    @Arg('input', () => MessageRegenerateInput, { description: 'The reply.' }) input: MessageRegenerateInput,
  ): Promise<MessageSendPayload> {
    return outcome(NOTHING_SENT, () => repeatReply(sceneOf(context), input));
  }

  @Authorized('USER')
  @Mutation(() => MessagePayload, {
    description: 'Stops a reply. What was written stays; once it has begun, it is charged.',
  })
  messageStop(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The reply.' }) input: IdInput,
  ): Promise<MessagePayload> {
    return outcome({ message: null }, async () => ({ message: await stopReply(sceneOf(context), input.id) }));
  }

  @Authorized('USER')
  @Subscription(() => MessageStreamEvent, {
    subscribe: ({ args, context }) => follow(context as Context, args as FollowArguments),
    description: 'Follows one reply. What was written so far comes first, in one piece; the end comes last.',
  })
  messageStream(
    @Root() event: ReplyEvent,
    @Arg('messageId', () => ID, { description: 'The reply.' }) _messageId: string,
    @Arg('afterSeq', () => Int, { defaultValue: 0, description: 'The last place already known.' })
    _afterSeq: number,
  ): typeof MessageStreamEvent {
    return eventView(event);
  }
}

/** The usage of replies, by user and request id: all replies of one operation belong to who asks. */
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

/** The events of a reply; of one that ended earlier, its end. */
async function* ended(event: ReplyEvent): AsyncGenerator<ReplyEvent> {
  yield event;
}

async function follow(
  context: Context,
  { messageId, afterSeq = 0 }: FollowArguments,
): Promise<AsyncIterable<ReplyEvent>> {
  const { em, playground, userId } = placeOf(context);
  const live = await playground.follow(userId, messageId, afterSeq);
  if (live) return live;
  const message = await storedMessage(em, userId, messageId);
  if (!message) throw requestError('FORBIDDEN', 'There is no such reply, or it is not kept any more.');
  if (message.state === 'STREAMING') return ended(brokenOff(message, afterSeq + 1));
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

function sceneOf(context: Context): Scene {
  return { ...placeOf(context), settings: context.settings, ip: context.ip };
}
