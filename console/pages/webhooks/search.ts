/** Search parameters of the webhooks page. */
import { textOf } from '../../components/search-parameters.ts';

export interface WebhooksSearch {
  /** The endpoint whose deliveries are shown. */
  endpoint?: string | undefined;
  /** The cursor of the page of deliveries. */
  after?: string | undefined;
}

/** Parses the search parameters of the webhooks page. */
export function validWebhooksSearch(search: Record<string, unknown>): WebhooksSearch {
  return { endpoint: textOf(search['endpoint']), after: textOf(search['after']) };
}
