/** Refuses files whose result would be broken. */
import { bindingOf, CLIENT_CERTIFICATE, NODE_IDENTITY_KINDS } from '@gateway/shared/clouds/access';
import type { CredentialStep, ModelStep, RouteStep, UpstreamStep } from './change.ts';
import type { ConfigurationDocument } from './document.ts';
import { DocumentError } from './shape.ts';
import { originOf } from './state.ts';
import type { CredentialItem, State, UpstreamItem } from './state.ts';

interface NamedSteps {
  models: readonly ModelStep[];
  upstreams: readonly UpstreamStep[];
  routes: readonly RouteStep[];
}

/** Throws a DocumentError if the result would name a model or an upstream that it does not have. */
export function requireKnownNames(
  { storefront, personalIntelligence: personal }: ConfigurationDocument,
  { models, upstreams, routes }: NamedSteps,
): void {
  const known = (steps: readonly (ModelStep | UpstreamStep)[]): Set<string> =>
    new Set(steps.filter(({ after }) => after !== null).map(({ name }) => name));
  const [modelNames, upstreamNames] = [known(models), known(upstreams)];
  const require = (names: ReadonlySet<string>, name: string | null | undefined, at: string): void => {
    if (name === null || name === undefined || names.has(name)) return;
    throw new DocumentError(at, `There is no ${name}. Correct the name, or add it.`);
  };
  for (const { name, after } of routes) {
    require(modelNames, after?.model, `routes: ${name}`);
    require(upstreamNames, after?.upstream, `routes: ${name}`);
  }
  for (const { name, before, after } of models)
    if (before?.replacement !== after?.replacement)
      require(modelNames, after?.replacement, `models: ${name}: replacement`);
  for (const name of storefront?.offeredModels ?? []) require(modelNames, name, 'storefront/offeredModels');
  for (const name of personal?.upstreams ?? [])
    require(upstreamNames, name, 'personalIntelligence/upstreams');
  require(modelNames, personal?.model, 'personalIntelligence/model');
}

interface ServingSteps extends NamedSteps {
  credentials: readonly CredentialStep[];
}

/**
 * Throws a DocumentError if a model that has a usable route would be public without one, because every
 * request for it would fail.
 */
export function requireServedModels(state: State, steps: ServingSteps): void {
  const before = servedModels({
    upstreams: state.upstreams.map(({ item }) => item),
    credentials: state.credentials.map(({ item }) => item),
    routes: state.routes.map(({ item }) => item),
    needSecret: new Set(),
  });
  const hadSecret = new Set(state.credentials.map(({ item }) => item.upstream));
  const after = servedModels({
    upstreams: steps.upstreams.flatMap((step) => step.after ?? []),
    credentials: steps.credentials.flatMap((step) => step.after ?? []),
    routes: steps.routes.flatMap((step) => step.after ?? []),
    needSecret: hadSecret,
  });
  const lost = steps.models.find(
    ({ name, after: model }) =>
      (model?.state === 'PUBLISHED' || model?.state === 'DEPRECATED') && before.has(name) && !after.has(name),
  );
  if (!lost) return;
  throw new DocumentError(
    `models: ${lost.name}`,
    'It would have no usable route, and every request for it would fail. ' +
      'Keep an enabled route to an enabled upstream with a credential, or set its state to RETIRED.',
  );
}

interface Serving {
  upstreams: readonly Pick<UpstreamItem, 'name' | 'baseUrl' | 'enabled' | 'access'>[];
  credentials: readonly Pick<CredentialItem, 'upstream' | 'origin' | 'binding'>[];
  routes: readonly { model: string; upstream: string; enabled: boolean }[];
  /** Upstreams that do not answer without a credential. */
  needSecret: ReadonlySet<string>;
}

/** The models that have a usable route. */
function servedModels({ upstreams, credentials, routes, needSecret }: Serving): Set<string> {
  const withCredentials = Map.groupBy(credentials, ({ upstream }) => upstream);
  const usable = new Set(
    upstreams
      .filter(({ name, baseUrl, enabled, access }) => {
        const own = withCredentials.get(name) ?? [];
        const hasIdentity = access !== null && NODE_IDENTITY_KINDS.includes(access.auth);
        const isOpen = own.length === 0 && (hasIdentity || !needSecret.has(name));
        const bindings = [bindingOf(access), CLIENT_CERTIFICATE];
        const fits = own.some(
          ({ origin, binding }) => origin === originOf(baseUrl) && bindings.includes(binding),
        );
        return enabled && (isOpen || fits);
      })
      .map(({ name }) => name),
  );
  return new Set(
    routes.filter(({ upstream, enabled }) => enabled && usable.has(upstream)).map(({ model }) => model),
  );
}
