/** GraphQL mutations and subscription with which owners manage their keys. */
import 'reflect-metadata';
import { Arg, Ctx, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { actorOf, Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, requestError } from '../graphql/errors.ts';
import type { Event } from '../database/events.ts';
import { IdInput } from '../graphql/inputs.ts';
import { endGracePeriod } from './key.grace-period.ts';
import { keyById } from './key.queries.ts';
import {
  createKey,
  disableKey,
  enableKey,
  revealKey,
  revokeKey,
  rotateKey,
  updateKey,
} from './key.service.ts';
import {
  ApiKey,
  ApiKeyCreateInput,
  ApiKeyCreatePayload,
  ApiKeyDisableInput,
  ApiKeyDisablePayload,
  ApiKeyPayload,
  ApiKeyRevealPayload,
  ApiKeyRotateInput,
  ApiKeyUpdateInput,
} from './key.type.ts';

/** Mutations of the caller's keys, and their updates. */
@Resolver()
export class KeyResolver {
  @Authorized('USER')
  @Mutation(() => ApiKeyCreatePayload, {
    description: 'Creates a key without a secret. Reveal it within 7 days to use it.',
  })
  apiKeyCreate(
    @Ctx() context: Context,
    @Arg('input', () => ApiKeyCreateInput, { description: 'The key.' }) input: ApiKeyCreateInput,
  ): Promise<ApiKeyCreatePayload> {
    return outcome({ apiKey: null, replayed: false }, async () => {
      const { key, replayed } = await createKey(context.em, viewerOf(context), input);
      return { apiKey: key, replayed };
    });
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyRevealPayload, {
    description: 'Creates the secret of a new or rotated key and returns it, only once.',
  })
  apiKeyReveal(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyRevealPayload> {
    return outcome({ apiKey: null, secret: null }, async () => {
      const { key, secret } = await revealKey(context.em, viewerOf(context).id, input.id);
      return { apiKey: key, secret };
    });
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyPayload, { description: 'Changes name, group or limits of a key.' })
  apiKeyUpdate(
    @Ctx() context: Context,
    @Arg('input', () => ApiKeyUpdateInput, { description: 'The changes.' }) input: ApiKeyUpdateInput,
  ): Promise<ApiKeyPayload> {
    return outcome({ apiKey: null }, async () => ({
      apiKey: await updateKey(context.em, viewerOf(context), input),
    }));
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyDisablePayload, {
    description: 'Disables a key. Waits up to one second for nodes to apply it and returns how many have.',
  })
  apiKeyDisable(
    @Ctx() context: Context,
    @Arg('input', () => ApiKeyDisableInput, { description: 'The key.' }) input: ApiKeyDisableInput,
  ): Promise<ApiKeyDisablePayload> {
    return outcome({ apiKey: null, appliedNodes: 0, pendingNodeIds: [] }, async () => {
      const { key, revision } = await disableKey(context.em, viewerOf(context).id, input);
      const { appliedNodes, pendingNodes } = await context.nodeFeed.waitForAcks(revision);
      return { apiKey: key, appliedNodes, pendingNodeIds: pendingNodes };
    });
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyPayload, { description: 'Enables a key that its owner disabled.' })
  apiKeyEnable(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyPayload> {
    return outcome({ apiKey: null }, async () => ({
      apiKey: await enableKey(context.em, viewerOf(context).id, input.id),
    }));
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyCreatePayload, {
    description: 'Starts a rotation. Reveal the key to get the new secret.',
  })
  apiKeyRotate(
    @Ctx() context: Context,
    @Arg('input', () => ApiKeyRotateInput, { description: 'The key.' }) input: ApiKeyRotateInput,
  ): Promise<ApiKeyCreatePayload> {
    return outcome({ apiKey: null, replayed: false }, async () => {
      const { key, replayed } = await rotateKey(context.em, viewerOf(context).id, input);
      return { apiKey: key, replayed };
    });
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyDisablePayload, {
    description:
      'Ends the grace period of a rotation: nodes refuse the old secret in new requests. Waits up to one ' +
      'second for nodes to apply it and returns how many have. Requests in progress continue.',
  })
  apiKeyGraceEnd(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyDisablePayload> {
    return outcome({ apiKey: null, appliedNodes: 0, pendingNodeIds: [] }, async () => {
      const owner = { id: viewerOf(context).id, actor: actorOf(context) };
      const { key, revision } = await endGracePeriod(context.em, owner, input.id);
      const { appliedNodes, pendingNodes } = await context.nodeFeed.waitForAcks(revision);
      return { apiKey: key, appliedNodes, pendingNodeIds: pendingNodes };
    });
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyPayload, { description: 'Disables a key permanently.' })
  apiKeyRevoke(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyPayload> {
    return outcome({ apiKey: null }, async () => ({
      apiKey: await revokeKey(context.em, viewerOf(context).id, input.id),
    }));
  }

  @Authorized('USER')
  @Subscription(() => ApiKey, {
    topics: 'apiKeyUpdated',
    topicId: ({ context }) => viewerOf(context as Context).id,
    description: "Each of the caller's keys that was created or changed.",
  })
  async apiKeyUpdated(@Root() event: Event, @Ctx() context: Context): Promise<ApiKey> {
    const key = await keyById(context.em, event.id);
    if (key?.ownerId === viewerOf(context).id) return key;
    throw requestError('FORBIDDEN', 'This key belongs to somebody else.');
  }
}
