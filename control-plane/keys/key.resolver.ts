/** GraphQL mutations and subscription with which owners manage their keys. */
import 'reflect-metadata';
import { Arg, Ctx, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { actorOf, Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, requestError } from '../graphql/errors.ts';
import type { Event } from '../database/events.ts';
import { confirmed, UNCONFIRMED } from './key.confirmation.ts';
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
    description:
      'Creates the secret of a new or rotated key and returns it, only once. Waits until nodes accept it.',
  })
  apiKeyReveal(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyRevealPayload> {
    return outcome({ ...UNCONFIRMED, secret: null }, async () => {
      const { secret, ...change } = await revealKey(context.em, viewerOf(context).id, input.id);
      return { ...(await confirmed(context, change)), secret };
    });
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyPayload, {
    description: 'Changes name, group or limits of a key, and waits until nodes have applied it.',
  })
  apiKeyUpdate(
    @Ctx() context: Context,
    @Arg('input', () => ApiKeyUpdateInput, { description: 'The changes.' }) input: ApiKeyUpdateInput,
  ): Promise<ApiKeyPayload> {
    return outcome({ ...UNCONFIRMED }, async () =>
      confirmed(context, await updateKey(context.em, viewerOf(context), input)),
    );
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyDisablePayload, {
    description:
      'Disables a key. Waits until nodes refuse it, and names each node that may serve and has not ' +
      'applied it.',
  })
  apiKeyDisable(
    @Ctx() context: Context,
    @Arg('input', () => ApiKeyDisableInput, { description: 'The key.' }) input: ApiKeyDisableInput,
  ): Promise<ApiKeyDisablePayload> {
    return outcome({ ...UNCONFIRMED }, async () =>
      confirmed(context, await disableKey(context.em, viewerOf(context).id, input)),
    );
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyPayload, {
    description: 'Enables a key that its owner disabled, and waits until nodes accept it.',
  })
  apiKeyEnable(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyPayload> {
    return outcome({ ...UNCONFIRMED }, async () =>
      confirmed(context, await enableKey(context.em, viewerOf(context).id, input.id)),
    );
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
      'Ends the grace period of a rotation: nodes refuse the old secret and end its requests in progress. ' +
      'Waits until nodes have applied it and names those that have not.',
  })
  apiKeyGraceEnd(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyDisablePayload> {
    return outcome({ ...UNCONFIRMED }, async () => {
      const owner = { id: viewerOf(context).id, actor: actorOf(context) };
      return confirmed(context, await endGracePeriod(context.em, owner, input.id));
    });
  }

  @Authorized('USER')
  @Mutation(() => ApiKeyPayload, {
    description: 'Disables a key permanently, and waits until nodes refuse it.',
  })
  apiKeyRevoke(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The key.' }) input: IdInput,
  ): Promise<ApiKeyPayload> {
    return outcome({ ...UNCONFIRMED }, async () =>
      confirmed(context, await revokeKey(context.em, viewerOf(context).id, input.id)),
    );
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
