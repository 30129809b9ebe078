/** Carries changes out through the services of each domain, in an order that each service accepts. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { parseRatio } from '@gateway/shared/money';
import { publishPolicy } from '../accounts/policy.service.ts';
import { setGroupRatio } from '../catalog/catalog.service.ts';
import type { Actor } from '../graphql/context.ts';
import { setPersonalSettings } from '../intelligence/personal.settings.ts';
import { setPaymentSettings } from '../payments/settings.service.ts';
import { setServiceLimits } from '../service-limits/service-limits.ts';
import { setStorefront } from '../pools/storefront.service.ts';
import type { Settings } from '../process/settings.ts';
import { same } from './change.ts';
import type { Change, PaymentsStep, PersonalStep, PolicyStep, StorefrontStep } from './change.ts';
import { amountOf, idOf } from './carrier.ts';
import type { Carrier } from './carrier.ts';
import { removeModel, saveModel, setState } from './steps.models.ts';
import {
  removeCredentialOf,
  removeRoute,
  removeUpstream,
  saveCredential,
  saveRoute,
  saveUpstream,
} from './steps.upstreams.ts';
import type { State } from './state.ts';

interface Parts extends Pick<Carrier, 'reason' | 'baseUrls' | 'accesses'> {
  actor: Actor;
  settings: Settings;
  state: State;
}

type Of<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/**
 * Carries the changes out in the transaction of `em`. Objects that others need come first, removals come
 * last, and a model changes its state after its routes are there. Throws the failures of the services.
 */
export async function carryOut(em: EntityManager, changes: readonly Change[], parts: Parts): Promise<void> {
  const { actor, settings, reason, baseUrls, accesses, state } = parts;
  const models = new Map(state.models.map(({ id, item }) => [item.name, id]));
  const upstreams = new Map(state.upstreams.map(({ id, item }) => [item.name, id]));
  const carrier: Carrier = { em, by: { actor, settings }, reason, models, upstreams, baseUrls, accesses };
  const of = <Kind extends Change['kind']>(kind: Kind): Of<Kind>[] =>
    changes.filter((change): change is Of<Kind> => change.kind === kind);
  // Each of these waits for name servers or locks of its own, so they come before the audit log is locked.
  for (const step of of('payments')) await setPayments(carrier, step);
  for (const step of of('policy')) await publish(carrier, step);
  for (const step of of('group')) await setRatio(carrier, step);
  for (const step of of('model')) if (step.after) await saveModel(carrier, step);
  for (const step of of('upstream')) if (step.after) await saveUpstream(carrier, step);
  for (const step of of('credential')) if (step.after) await saveCredential(carrier, step);
  for (const step of of('route')) if (step.after) await saveRoute(carrier, step);
  for (const step of of('model')) if (step.after) await setState(carrier, step);
  for (const step of of('storefront')) await setTerms(carrier, step);
  for (const { after: limits } of of('limits'))
    if (limits) await setServiceLimits(em, { limits, reason }, { actor, settings });
  for (const step of of('personalIntelligence')) await setPersonal(carrier, step);
  for (const step of of('route')) if (!step.after) await removeRoute(carrier, step);
  for (const step of of('credential')) if (!step.after) await removeCredentialOf(carrier, step);
  for (const step of of('upstream')) if (!step.after) await removeUpstream(carrier, step);
  for (const step of of('model')) if (!step.after) await removeModel(carrier, step);
}

async function setRatio({ em, by, reason }: Carrier, { after }: Of<'group'>): Promise<void> {
  const ratio = after && parseRatio(after.ratio);
  if (ratio === null || ratio === undefined) return;
  await setGroupRatio(em, { group: after?.group ?? 'default', ratio, version: 'ANY', reason }, by.actor);
}

async function publish({ em, by, reason }: Carrier, { after }: PolicyStep): Promise<void> {
  if (!after) return;
  const effectiveAt = after.effectiveAt === '' ? null : new Date(after.effectiveAt);
  await publishPolicy(em, { ...after, effectiveAt, reason }, by.actor);
}

async function setPayments({ em, by, reason }: Carrier, { before, after }: PaymentsStep): Promise<void> {
  if (!before || !after) return;
  const { keyDigest: _, apiKey, amountMin, amountMax, dailyMax, presets, apiAddress, ...switches } = after;
  const amounts = {
    amountMin: amountOf(amountMin),
    amountMax: amountOf(amountMax),
    dailyMax: amountOf(dailyMax),
  };
  const change = {
    ...switches,
    ...amounts,
    presets: presets.map(amountOf),
    ...(apiAddress !== before.apiAddress && { apiAddress }),
    ...(apiKey !== null && { apiKey }),
    version: 'ANY' as const,
    reason,
  };
  await setPaymentSettings(em, change, by);
}

async function setTerms(
  { em, by, reason, models }: Carrier,
  { before, after }: StorefrontStep,
): Promise<void> {
  if (!before || !after) return;
  const { state, message, rpmCap, poolRequestsFree } = after;
  const change = {
    ...{ state, message, rpmCap, poolRequestsFree },
    basePrice: amountOf(after.basePrice),
    extraModelPrice: amountOf(after.extraModelPrice),
    giftCredit: amountOf(after.giftCredit),
    ...(!same(before.offeredModels, after.offeredModels) && {
      offeredModelIds: after.offeredModels?.map((name) => idOf(models, name)) ?? null,
    }),
    confirmPrices: after.pricesConfirmed && !before.pricesConfirmed,
    version: 'ANY' as const,
    reason,
  };
  await setStorefront(em, change, by);
}

async function setPersonal({ em, by, reason, upstreams }: Carrier, { after }: PersonalStep): Promise<void> {
  if (!after) return;
  const providerIds = after.upstreams?.map((name) => idOf(upstreams, name)) ?? [];
  const change = {
    modelName: after.model ?? '',
    monthlyBudget: amountOf(after.monthlyBudget),
    providerIds,
    reason,
  };
  await setPersonalSettings(em, change, by.actor);
}
