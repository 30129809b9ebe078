/** The models that the Playground offers. */
import type { ResultOf } from '../../graphql.ts';
import type { PlaygroundQuery } from './documents.ts';

/** A model of the model picker. */
export interface PickedModel {
  name: string;
  price: string;
  /** Whether the model accepts pictures. */
  sees: boolean;
}

/** The chat models of the default group, with the price of a message. */
export function modelsOf(data: ResultOf<typeof PlaygroundQuery> | undefined): PickedModel[] {
  return (data?.catalog.nodes ?? []).flatMap(({ name, inputModalities, prices, endpoints }) => {
    const price = prices.find((item) => item.group === 'DEFAULT')?.pricePerRequest;
    const chats = endpoints.some((endpoint) => endpoint.family === 'CHAT_COMPLETIONS');
    return price !== undefined && chats ? [{ name, price, sees: inputModalities.includes('image') }] : [];
  });
}
