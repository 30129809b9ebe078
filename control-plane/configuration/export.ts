/** The present state as a configuration file. It has no secret and no place of a secret. */
import { GROUPS } from '@gateway/shared/catalog';
import { DOCUMENT_VERSION } from './document.ts';
import type { ConfigurationDocument, UpstreamEntry } from './document.ts';
import type { State } from './state.ts';

/** The sections of a file. */
export type SectionName = Exclude<keyof ConfigurationDocument, 'version' | 'prune'>;

/**
 * The file that describes the state; applied to the same state, it changes nothing. `includes` decides which
 * sections it has.
 */
export function exportDocument(
  state: State,
  includes: (name: SectionName) => boolean,
): ConfigurationDocument {
  const { pricesConfirmed, ...storefront } = state.storefront;
  const { keyDigest: _, ...payments } = state.payments;
  const [policy] = state.policies;
  const sections: Pick<ConfigurationDocument, SectionName> = {
    groups: Object.fromEntries(GROUPS.map((name) => [name, { ratio: state.groups[name] }])) as NonNullable<
      ConfigurationDocument['groups']
    >,
    models: state.models.map(({ item }) => item),
    upstreams: upstreamsOf(state),
    routes: state.routes.map(({ item }) => item),
    storefront: { ...storefront, ...(pricesConfirmed && { pricesConfirmed }) },
    ...(policy && { policy }),
    payments,
    personalIntelligence: state.personalIntelligence,
    limits: state.limits,
  };
  const shown = Object.entries(sections).filter(([name]) => includes(name as SectionName));
  return { version: DOCUMENT_VERSION, ...Object.fromEntries(shown) };
}

function upstreamsOf({ upstreams, credentials }: State): UpstreamEntry[] {
  const own = Map.groupBy(credentials, ({ item }) => item.upstream);
  return upstreams.map(({ item }) => ({
    ...item,
    credentials: (own.get(item.name) ?? []).map(({ item: { label } }) => ({ label })),
  }));
}
