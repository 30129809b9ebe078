/** Client snippets (texts that set up a client) of keys and models, in the API. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { CatalogModel } from '../catalog/catalog.type.ts';
import type { Context } from '../graphql/context.ts';
import type { KeyRow } from '../keys/key.entity.ts';
import { ApiKey } from '../keys/key.type.ts';
import { addressOfKey } from '../pools/pool.lookups.ts';
import { accessOf, modelsFor } from './snippet.service.ts';
import { snippetsOf } from './snippet.texts.ts';
import type { Client } from './snippet.texts.ts';
import { ClientKind, ClientSnippet } from './snippet.type.ts';

/** Snippets of a key. */
@Resolver(() => ApiKey)
export class KeySnippetsResolver {
  @FieldResolver(() => [ClientSnippet], {
    description:
      'Texts that set up clients with this key. YOUR_API_KEY stands for its secret, which is not stored.',
  })
  async clientSnippets(
    @Root() key: KeyRow,
    @Ctx() context: Context,
    @Arg('clients', () => [ClientKind], { nullable: true, description: 'Only these clients.' })
    clients?: Client[] | null,
  ): Promise<ClientSnippet[]> {
    const [address, models] = await Promise.all([addressOfKey(context, key), modelsFor(context, key)]);
    return snippetsOf(accessOf(address, models), clients);
  }
}

/** Snippets of a model. */
@Resolver(() => CatalogModel)
export class ModelSnippetsResolver {
  @FieldResolver(() => [ClientSnippet], {
    description: 'Texts that set up clients with this model. YOUR_API_KEY stands for the secret of a key.',
  })
  clientSnippets(
    @Root() model: CatalogModel,
    @Ctx() context: Context,
    @Arg('clients', () => [ClientKind], { nullable: true, description: 'Only these clients.' })
    clients?: Client[] | null,
  ): ClientSnippet[] {
    const { publicUrl: baseAddress } = context.settings;
    const { name } = model;
    return snippetsOf({ baseAddress, model: name, codingModel: name, smallModel: name }, clients);
  }
}
