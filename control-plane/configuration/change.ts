/** The changes that a file asks for, as one list that people can read and the gateway can carry out. */
import type { Group } from '@gateway/shared/catalog';
import { canonicalJson } from '../process/canonical-json.ts';
import type { ServiceLimits } from '../service-limits/service-limits.ts';
import type {
  CredentialItem,
  ModelItem,
  PaymentsItem,
  PersonalItem,
  PolicyItem,
  RouteItem,
  StorefrontItem,
  UpstreamItem,
} from './state.ts';

/** A credential after a change, with the secret to store. */
export type NewCredential = CredentialItem & { secret: string; certificate: string | null };
/** The payment settings after a change, with the key to store; null keeps the stored one. */
export type NewPayments = PaymentsItem & { apiKey: string | null };

/** One object before and after. `before` is null for a new object, `after` for one that is removed. */
interface Step<Kind extends string, Before, After = Before> {
  kind: Kind;
  /** Name for people. */
  name: string;
  /** Id of the row; null for a new object or a section. */
  id: string | null;
  before: Before | null;
  after: After | null;
}

export type GroupStep = Step<'group', { group: Group; ratio: string }>;
export type ModelStep = Step<'model', ModelItem>;
export type UpstreamStep = Step<'upstream', UpstreamItem>;
export type CredentialStep = Step<'credential', CredentialItem, NewCredential>;
export type RouteStep = Step<'route', RouteItem>;
export type StorefrontStep = Step<'storefront', StorefrontItem>;
export type PersonalStep = Step<'personalIntelligence', PersonalItem>;
export type LimitsStep = Step<'limits', ServiceLimits>;
export type PaymentsStep = Step<'payments', PaymentsItem, NewPayments>;
export type PolicyStep = Step<'policy', PolicyItem>;
export type Change =
  | GroupStep
  | ModelStep
  | UpstreamStep
  | CredentialStep
  | RouteStep
  | StorefrontStep
  | PersonalStep
  | LimitsStep
  | PaymentsStep
  | PolicyStep;

/** One field of a change. */
export interface FieldChange {
  name: string;
  before: unknown;
  after: unknown;
}

/** Fields of a secret, and long texts: a change of them is named without the values. */
const HIDDEN: ReadonlySet<string> = new Set(['digest', 'keyDigest', 'markdown']);

/** Fields that are no part of the file. */
const UNSEEN: ReadonlySet<string> = new Set(['secret', 'certificate', 'apiKey', 'binding']);

/** The change of the object. */
export function actionOf({ before, after }: Change): 'CREATE' | 'UPDATE' | 'REMOVE' {
  if (after === null) return 'REMOVE';
  return before === null ? 'CREATE' : 'UPDATE';
}

/** Whether the step changes something. */
export function isChange(step: Change): boolean {
  return fieldsOf(step).length > 0 || step.after === null;
}

/** The fields that differ, without secrets and their digests. */
export function fieldsOf({ before, after }: Change): FieldChange[] {
  if (after === null) return [];
  const old = new Map<string, unknown>(Object.entries(before ?? {}));
  return Object.entries(after).flatMap(([name, value]: [string, unknown]) => {
    if (UNSEEN.has(name) || same(old.get(name), value)) return [];
    return HIDDEN.has(name)
      ? [{ name: shownName(name), before: null, after: 'changed' }]
      : [{ name, before: old.get(name) ?? null, after: value }];
  });
}

/** Whether two values are equal as JSON. */
export function same(one: unknown, other: unknown): boolean {
  return canonicalJson({ value: one ?? null }) === canonicalJson({ value: other ?? null });
}

function shownName(name: string): string {
  if (name === 'digest') return 'secret';
  return name === 'keyDigest' ? 'apiKey' : name;
}
