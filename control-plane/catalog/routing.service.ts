/** Changes how the routes of a model are chosen. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RoutingPolicy } from '@gateway/shared/routing';
import { audit } from '../audit/audit.service.ts';
import { inTransaction } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { announceModels, modelForChange } from './catalog.service.ts';
import type { ModelRow } from './model.entity.ts';

/** How the routes of a model are to be chosen. */
interface RoutingChange {
  id: string;
  version: number | 'ANY';
  routing: RoutingPolicy;
  hedged: boolean;
  reason: string;
}

/** Sets how the routes of a model are chosen, and publishes it to nodes. Throws NOT_FOUND, STALE_VERSION. */
export async function setModelRouting(
  em: EntityManager,
  { id, version, routing, hedged, reason }: RoutingChange,
  actor: Actor,
): Promise<ModelRow> {
  return inTransaction(em, async (inner) => {
    const model = await modelForChange(inner, id, version);
    const before = { routing: model.routing, hedged: model.hedged };
    Object.assign(model, { routing, hedged });
    await inner.flush();
    await audit(inner, {
      actor,
      action: 'model.routing',
      targetType: 'CatalogModel',
      targetId: id,
      before,
      after: { routing, hedged },
      reason,
    });
    await announceModels(inner, [model]);
    return model;
  });
}
