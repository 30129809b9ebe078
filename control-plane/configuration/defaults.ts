/** Values of new objects for the fields that a configuration file leaves out. */
import { DEFAULT_LIMITS } from '../catalog/seed-models.ts';
import { DEFAULT_TIMEOUTS } from '../upstreams/provider.rules.ts';
import type { ModelItem } from './state.ts';

/** The fields that a new model may leave out. Its name is its first display name. */
export type NewModel = Omit<
  ModelItem,
  'name' | 'displayName' | 'tier' | 'contextTokens' | 'price' | 'groups' | 'families'
>;

/** A new model is a draft, so that nobody uses it before the file says so. */
export const NEW_MODEL: NewModel = {
  description: '',
  traits: [],
  limits: DEFAULT_LIMITS,
  passUnknown: false,
  storesState: false,
  stateRetentionDays: 30,
  routing: 'FIXED',
  hedged: false,
  state: 'DRAFT',
  retiresAt: null,
  replacement: null,
  note: null,
};

/** A new upstream is enabled. */
export const NEW_UPSTREAM = {
  enabled: true,
  timeouts: DEFAULT_TIMEOUTS,
  concurrencyLimit: null,
  probeMinutes: null,
  quirks: [],
  access: null,
} as const;

/** A new route is enabled and of the first priority. */
export const NEW_ROUTE = { priority: 0, weight: 1, cost: null, enabled: true, quirks: [] } as const;
