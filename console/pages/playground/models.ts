/** The models that the Playground offers. */
import type { ResultOf } from '../../graphql.ts';
import { FILTER_TRAITS, type FilterTrait } from '../pricing/search.ts';
import type { PlaygroundQuery } from './documents.ts';

/** A model of the model picker. */
export interface PickedModel {
  name: string;
  price: string;
  /** Whether the model accepts pictures. */
  sees: boolean;
  /** Traits with a name in the price list. */
  traits: FilterTrait[];
  /** The parameters of chats that reach the model. */
  parameters: CatalogModel['chatParameters'];
}

type CatalogModel = ResultOf<typeof PlaygroundQuery>['catalog']['nodes'][number];

/** The chat models of the default group, with the price of a message. */
export function modelsOf(data: ResultOf<typeof PlaygroundQuery> | undefined): PickedModel[] {
  return (data?.catalog.nodes ?? []).flatMap(({ name, inputModalities, prices, endpoints, ...model }) => {
    const price = prices.find((item) => item.group === 'DEFAULT')?.pricePerRequest;
    const chats = endpoints.some((endpoint) => endpoint.family === 'CHAT_COMPLETIONS');
    if (price === undefined || !chats) return [];
    const traits = FILTER_TRAITS.filter((trait) => model.traits.includes(trait));
    const sees = inputModalities.includes('image');
    return [{ name, price, sees, traits, parameters: model.chatParameters }];
  });
}
