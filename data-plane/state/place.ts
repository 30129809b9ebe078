/** Finds the upstream account that has a stored object. */
import type { DialectName, Family } from '@gateway/shared/catalog';
import type { CompiledRoute, Config, SoldModel } from '../config/config.ts';
import type { Candidate } from '../upstreams/attempt.ts';
import type { StoredObject } from './sealed-ids.ts';

/** The provider and credential of an object. */
type Place = Pick<StoredObject, 'providerId' | 'credentialId'>;

/** Provider and credential of a candidate. */
export function placeOf({ provider, credential }: Candidate): Place {
  return { providerId: provider.id, credentialId: credential?.id ?? '' };
}

/** The routes to the account that has the object, each with that one credential. */
export function routesTo(
  { providerId, credentialId }: Place,
  routes: readonly CompiledRoute[],
): CompiledRoute[] {
  return routes.flatMap((compiled) => {
    if (compiled.provider.id !== providerId) return [];
    const credentials = compiled.credentials.filter(({ id }) => id === credentialId);
    // An upstream without credentials is asked without one, as when the object was stored.
    const isReachable = credentialId === '' ? compiled.credentials.length === 0 : credentials.length > 0;
    return isReachable ? [{ ...compiled, credentials }] : [];
  });
}

/** The formats that have stored objects, and the family of their routes. */
const FAMILIES = { 'openai-responses': 'responses', 'google-generate': 'generative_language' } as const;

/** A format that has stored objects. */
export type StateDialect = keyof typeof FAMILIES;

/** Whether the format has stored objects. */
export function hasStoredObjects(dialect: DialectName | undefined): dialect is StateDialect {
  return dialect !== undefined && Object.hasOwn(FAMILIES, dialect);
}

/** The routes of a model whose upstream has the client's format. */
export function nativeRoutes(
  config: Config,
  modelId: string,
  dialect: StateDialect,
): readonly CompiledRoute[] {
  const family: Family = FAMILIES[dialect];
  return config
    .routesFor(modelId, family)
    .filter(({ provider: { protocols } }) => protocols.includes(dialect));
}

/**
 * One route to the account that has the object, of any of the models; undefined if provider or credential are
 * gone. Objects stay readable when their model no longer stores any.
 */
export function routeOf(
  config: Config,
  object: Place,
  { models, dialect }: { models: Iterable<SoldModel>; dialect: StateDialect },
): CompiledRoute | undefined {
  for (const { id } of models) {
    const [route] = routesTo(object, nativeRoutes(config, id, dialect));
    if (route) return route;
  }
  return undefined;
}
