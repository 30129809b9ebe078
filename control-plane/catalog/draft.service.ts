/** Deletes drafts of models. Other models are retired instead, because usage log and pools refer to them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { announce } from '../database/config-log.ts';
import { inTransaction } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { modelForChange } from './catalog.service.ts';
import { ModelSchema } from './model.entity.ts';

/** Deletes a draft without routes. Throws NOT_FOUND, and CONFLICT if it was published or replaces a model. */
export async function deleteDraft(
  em: EntityManager,
  { id, reason }: { id: string; reason: string },
  actor: Actor,
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const model = await modelForChange(inner, id, 'ANY');
    if (model.state !== 'DRAFT')
      throw new UserFailure('CONFLICT', `The model ${model.name} was published. Retire it instead.`, 'id');
    const replaced = await inner.findOne(ModelSchema, { replacementId: id });
    if (replaced) {
      const message = `${replaced.name} names ${model.name} as its replacement. Change that first.`;
      throw new UserFailure('CONFLICT', message, 'id');
    }
    const { name } = model;
    inner.remove(model);
    await inner.flush();
    const target = { action: 'model.delete', targetType: 'CatalogModel', targetId: id };
    await audit(inner, { actor, ...target, before: { name }, reason });
    await announce(inner, { remove: [{ kind: 'MODEL', id }] });
  });
}
