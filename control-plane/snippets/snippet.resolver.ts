/** The texts that set up clients: for a key with the models that it may use, and for a model. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { CatalogModel } from '../catalog/catalog.type.ts';
import type { Context } from '../context.ts';
import type { KeyRow } from '../keys/key.entity.ts';
import { ApiKey } from '../keys/key.type.ts';
import { addressOfKey } from '../pools/pool.lookups.ts';
import { accessOf, modelsFor } from './snippet.service.ts';
import { snippetsOf } from './snippet.texts.ts';
import type { Client } from './snippet.texts.ts';
import { ClientKind, ClientSnippet } from './snippet.type.ts';

/** For a key. */
@Resolver(() => ApiKey)
export class KeySnippetsResolver {
  @FieldResolver(() => [ClientSnippet], {
    description: 'How clients use it. YOUR_API_KEY stands for the secret, which nobody but its owner has.',
  })
  async clientSnippets(
    @Root() key: KeyRow,
    @Ctx() context: Context,
    @Arg('clients', () => [ClientKind], { nullable: true, description: 'Only for these clients.' })
    clients?: Client[] | null,
  ): Promise<ClientSnippet[]> {
    const [address, models] = await Promise.all([addressOfKey(context, key), modelsFor(context, key)]);
    return snippetsOf(accessOf(address, models), clients);
  }
}

/** For a model. */
@Resolver(() => CatalogModel)
export class ModelSnippetsResolver {
  @FieldResolver(() => [ClientSnippet], {
    description: 'How clients ask this model. YOUR_API_KEY stands for the secret.',
  })
  clientSnippets(
    @Root() model: CatalogModel,
    @Ctx() context: Context,
    @Arg('clients', () => [ClientKind], { nullable: true, description: 'Only for these clients.' })
    clients?: Client[] | null,
  ): ClientSnippet[] {
    const { publicUrl: baseAddress } = context.settings;
    const { name } = model;
    return snippetsOf({ baseAddress, model: name, codingModel: name, smallModel: name }, clients);
  }
}
