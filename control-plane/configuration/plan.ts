/** Compares a configuration file with the state of the database. Pure: reads and changes nothing. */
import { GROUPS } from '@gateway/shared/catalog';
import { isChange, same } from './change.ts';
import type { Change, ModelStep, PolicyStep, RouteStep, UpstreamStep } from './change.ts';
import { planCredentials } from './plan-credentials.ts';
import { planPayments } from './plan-payments.ts';
import { NEW_MODEL, NEW_ROUTE, NEW_UPSTREAM } from './defaults.ts';
import type { NewModel } from './defaults.ts';
import { DocumentError } from './shape.ts';
import { requireKnownNames, requireServedModels } from './refusals.ts';
import { routeName } from './state.ts';
import type { ModelItem, RouteItem, State, Stored } from './state.ts';
import type { ConfigurationDocument, ModelEntry } from './document.ts';

/** The secrets of the file by reference. */
export type Secrets = ReadonlyMap<string, string>;

/**
 * The changes that make the state as the file says, in no particular order. Fields and objects that the file
 * does not name stay, unless `prune` names their section. Throws a DocumentError for a file that is
 * incomplete, contradicts itself or the state, or would leave a published model without a usable route.
 */
export function plan(state: State, document: ConfigurationDocument, secrets: Secrets): Change[] {
  requirePrunedSections(document);
  const models = planModels(state, document);
  const upstreams = planUpstreams(state, document);
  const credentials = planCredentials(state, { document, upstreams, secrets });
  const routes = planRoutes(state, { document, models, upstreams });
  requireKnownNames(document, { models, upstreams, routes });
  requireServedModels(state, { models, upstreams, credentials, routes });
  return [
    ...planGroups(state, document),
    ...[...models, ...upstreams, ...credentials, ...routes],
    ...planSections(state, document),
    ...planPayments(state, { document, secrets }),
    ...planPolicy(state, document),
  ].filter(isChange);
}

/** An empty list removes everything; a missing one is more likely a mistake. */
function requirePrunedSections(document: ConfigurationDocument): void {
  for (const name of document.prune ?? []) {
    const section = name === 'credentials' ? 'upstreams' : name;
    if (document[section] === undefined)
      throw new DocumentError('prune', `The section ${section} is missing. Add it, or remove ${name} here.`);
  }
}

function planGroups(state: State, { groups = {} }: ConfigurationDocument): Change[] {
  return GROUPS.flatMap((group): Change[] => {
    const ratio = groups[group]?.ratio;
    if (ratio === undefined) return [];
    const before = { group, ratio: state.groups[group] };
    return [{ kind: 'group', name: group, id: null, before, after: { group, ratio } }];
  });
}

/** One step for every model, also for those that stay as they are. */
function planModels(state: State, { models = [], prune = [] }: ConfigurationDocument): ModelStep[] {
  const stored = new Map(state.models.map((each) => [each.item.name, each]));
  const named = uniqueBy(models, 'models', ({ name }) => name);
  const isPruned = prune.includes('models');
  const kept = state.models
    .filter(({ item }) => !named.has(item.name))
    .map((each) => modelStep(each, isPruned ? prunedModel(each.item) : each.item));
  return [
    ...kept,
    ...models.map((entry, index) => {
      const found = stored.get(entry.name);
      const at = `models/${index}`;
      if (!found) requireFields(entry, at, ['tier', 'contextTokens', 'price', 'groups', 'families']);
      const after = mergedModel(found?.item ?? { ...NEW_MODEL, displayName: entry.name }, entry, at);
      return modelStep(found, after);
    }),
  ];
}

function modelStep(found: Stored<ModelItem> | undefined, after: ModelItem | null): ModelStep {
  const name = after?.name ?? found?.item.name ?? '';
  return { kind: 'model', name, id: found?.id ?? null, before: found?.item ?? null, after };
}

/** Drafts were never used and are deleted. Others stay in the usage log, so they are retired. */
function prunedModel(item: ModelItem): ModelItem | null {
  if (item.state === 'DRAFT') return null;
  return item.state === 'RETIRED' ? item : { ...item, state: 'RETIRED' };
}

function mergedModel(
  before: ModelItem | (NewModel & { displayName: string }),
  entry: ModelEntry,
  at: string,
): ModelItem {
  const limits = { ...before.limits, ...entry.limits };
  const after = { ...before, ...entry, limits } as ModelItem;
  if (after.state === 'DEPRECATED' || after.state === 'RETIRED') return after;
  for (const name of ['retiresAt', 'replacement', 'note'] as const)
    if (entry[name])
      throw new DocumentError(`${at}/${name}`, 'Only a deprecated or retired model has it. Remove it.');
  return { ...after, retiresAt: null, replacement: null, note: null };
}

/** One step for every upstream, also for those that stay as they are. */
function planUpstreams(state: State, { upstreams = [], prune = [] }: ConfigurationDocument): UpstreamStep[] {
  const stored = new Map(state.upstreams.map((each) => [each.item.name, each]));
  const named = uniqueBy(upstreams, 'upstreams', ({ name }) => name);
  const isPruned = prune.includes('upstreams');
  const kept = state.upstreams
    .filter(({ item }) => !named.has(item.name))
    .map(({ id, item }): UpstreamStep => {
      return { kind: 'upstream', name: item.name, id, before: item, after: isPruned ? null : item };
    });
  return [
    ...kept,
    ...upstreams.map((given, index): UpstreamStep => {
      const { credentials: _, ...entry } = given;
      const found = stored.get(entry.name);
      if (!found) requireFields(entry, `upstreams/${index}`, ['protocols', 'baseUrl']);
      const before = found?.item ?? NEW_UPSTREAM;
      const timeouts = { ...before.timeouts, ...entry.timeouts };
      const after = { ...before, ...entry, timeouts } as UpstreamStep['after'];
      return {
        kind: 'upstream',
        name: entry.name,
        id: found?.id ?? null,
        before: found?.item ?? null,
        after,
      };
    }),
  ];
}

interface RouteParts {
  document: ConfigurationDocument;
  models: readonly ModelStep[];
  upstreams: readonly UpstreamStep[];
}

/** One step for every route. Of routes with one name, the n-th in the file is the n-th in the database. */
function planRoutes(state: State, { document, models, upstreams }: RouteParts): RouteStep[] {
  const { routes = [], prune = [] } = document;
  const waiting = Map.groupBy(state.routes, ({ item }) => routeName(item));
  const named = routes.map((entry, index): RouteStep => {
    const name = routeName(entry);
    const found = waiting.get(name)?.shift();
    if (!found) requireFields(entry, `routes/${index}`, ['families']);
    const after = { ...(found?.item ?? NEW_ROUTE), ...entry } as RouteItem;
    return { kind: 'route', name, id: found?.id ?? null, before: found?.item ?? null, after };
  });
  const removed = new Set([...models, ...upstreams].filter(({ after }) => !after).map(({ name }) => name));
  const rest = [...waiting.values()].flat().map(({ id, item }): RouteStep => {
    const isGone = removed.has(item.model) || removed.has(item.upstream) || prune.includes('routes');
    return { kind: 'route', name: routeName(item), id, before: item, after: isGone ? null : item };
  });
  return [...named, ...rest];
}

function planSections(state: State, document: ConfigurationDocument): Change[] {
  const { storefront, personalIntelligence: personal, limits } = document;
  const changes: Change[] = [];
  if (storefront) {
    const before = state.storefront;
    changes.push({ kind: 'storefront', name: '', id: null, before, after: { ...before, ...storefront } });
  }
  if (personal) {
    const before = state.personalIntelligence;
    changes.push({
      kind: 'personalIntelligence',
      name: '',
      id: null,
      before,
      after: { ...before, ...personal },
    });
  }
  if (limits) {
    const before = state.limits;
    changes.push({ kind: 'limits', name: '', id: null, before, after: { ...before, ...limits } });
  }
  return changes;
}

/** Publishes a version that is not known. A known version is never changed. */
function planPolicy(state: State, { policy }: ConfigurationDocument): PolicyStep[] {
  if (!policy) return [];
  const { version, markdown, changeSummary = '', requireReacceptance = true } = policy;
  const known = state.policies.find((each) => each.version === version);
  if (known) {
    if (same(known.markdown, markdown)) return [];
    const message = `Version ${version} is published and cannot change. Give the new text a higher number.`;
    throw new DocumentError('policy', message);
  }
  const effectiveAt = policy.effectiveAt ?? '';
  const after = { version, markdown, changeSummary, effectiveAt, requireReacceptance };
  return [{ kind: 'policy', name: version, id: null, before: null, after }];
}

/** The keys of the entries. Throws a DocumentError if two entries have the same one. */
function uniqueBy<Entry>(
  entries: readonly Entry[],
  at: string,
  keyOf: (entry: Entry) => string,
): Set<string> {
  const keys = new Set<string>();
  for (const entry of entries) {
    const key = keyOf(entry);
    if (keys.has(key)) throw new DocumentError(at, `${key} is there twice. Remove one of both.`);
    keys.add(key);
  }
  return keys;
}

function requireFields<Entry extends object>(
  entry: Entry,
  at: string,
  names: readonly (keyof Entry & string)[],
): void {
  const missing = names.filter((name) => entry[name] === undefined);
  if (missing.length > 0)
    throw new DocumentError(at, `This is new, so it needs ${missing.join(', ')}. Add what is missing.`);
}
