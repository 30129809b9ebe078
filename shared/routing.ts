/** How a model's requests are spread over routes of one priority. */

/**
 * FIXED: in proportion to the weights. FASTEST: of two routes drawn by weight, the one that answered faster
 * and more reliably. CHEAPEST: the route with the lowest cost for the operator.
 */
export const ROUTING_POLICIES = ['FIXED', 'FASTEST', 'CHEAPEST'] as const;
export type RoutingPolicy = (typeof ROUTING_POLICIES)[number];
