/** Keys on the API, for their owners. */
import 'reflect-metadata';
import { Arg, Ctx, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { waitForAcks } from '../config-log.ts';
import { actorOf, Authorized, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, requestError } from '../errors.ts';
import type { Event } from '../events.ts';
import { IdInput } from '../inputs.ts';
import { endGrace } from './key.grace.ts';
import { anyKey } from './key.queries.ts';
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

/** What owners do with their keys. */
@Resolver()
export class KeyResolver {
  @Authorized('USER')
  @Mutation(() => ApiKeyCreatePayload, {
    description: 'Makes a key without a secret; reveal it within 7 days to use it.',
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
    description: 'Makes the secret of a new or rotated key and shows it, this once.',
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
    description: 'Disables a key; waits up to one second for the nodes and says how many have applied it.',
  })
  apiKeyDisable(
    @Ctx() context: Context,
    @Arg('input', () => ApiKeyDisableInput, { description: 'The key.' }) input: ApiKeyDisableInput,
  ): Promise<ApiKeyDisablePayload> {
    return outcome({ apiKey: null, appliedNodes: 0, pendingNodeIds: [] }, async () => {
      const { key, revision } = await disableKey(context.em, viewerOf(context).id, input);
      const { appliedNodes, pendingNodes } = await waitForAcks(revision);
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
    description: 'Opens a rotation; reveal the key to get the new secret.',
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
      'Ends the grace of a rotation: the old secret is refused from now on. Waits up to one second for the ' +
      'nodes and says how many have applied it. Requests that were let in by it run to their end.',
  })
  apiKeyGraceEnd(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyDisablePayload> {
    return outcome({ apiKey: null, appliedNodes: 0, pendingNodeIds: [] }, async () => {
      const owner = { id: viewerOf(context).id, actor: actorOf(context) };
      const { key, revision } = await endGrace(context.em, owner, input.id);
      const { appliedNodes, pendingNodes } = await waitForAcks(revision);
      return { apiKey: key, appliedNodes, pendingNodeIds: pendingNodes };
    });
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyPayload, { description: 'Disables a key for good.' })
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
    description: "Each of the caller's keys that was made or changed.",
  })
  async apiKeyUpdated(@Root() event: Event, @Ctx() context: Context): Promise<ApiKey> {
    const key = await anyKey(context.em, event.id);
    if (key?.ownerId === viewerOf(context).id) return key;
    throw requestError('FORBIDDEN', 'This key belongs to somebody else.');
  }
}
