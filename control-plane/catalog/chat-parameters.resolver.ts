/** GraphQL field with the parameters of chats that a model takes. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { chatParametersOf } from '@gateway/shared/chat-parameters';
import type { ChatParameter } from '@gateway/shared/chat-parameters';
import type { Context } from '../graphql/context.ts';
import { ChatParameterEnum } from '../graphql/enums.ts';
import { chatRoutesOfModels } from '../lookups.ts';
import { CatalogModel } from './catalog.type.ts';

/** The parameters of a model. */
@Resolver(() => CatalogModel)
export class ChatParametersResolver {
  @FieldResolver(() => [ChatParameterEnum], {
    description: 'Parameters of chats that reach the model on each of its routes. Others would be dropped.',
  })
  async chatParameters(@Root() model: CatalogModel, @Ctx() context: Context): Promise<ChatParameter[]> {
    const routes = await context.batches.load(chatRoutesOfModels, model.id);
    return chatParametersOf(model.traits, routes ?? []);
  }
}
