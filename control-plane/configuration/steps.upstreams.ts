/** Carries changes of upstreams, credentials and routes out. */
import { setProbing } from '../upstreams/probing.ts';
import { setQuirks } from '../upstreams/quirk.service.ts';
import { deleteRoute, upsertRoute } from '../upstreams/route.service.ts';
import {
  addCredential,
  deleteProvider,
  removeCredential,
  upsertProvider,
} from '../upstreams/upstream.service.ts';
import { UserFailure } from '../graphql/errors.ts';
import { canonicalJson } from '../process/canonical-json.ts';
import { same } from './change.ts';
import type { CredentialStep, RouteStep, UpstreamStep } from './change.ts';
import { amountOf, idOf } from './carrier.ts';
import type { Carrier } from './carrier.ts';
import type { UpstreamItem } from './state.ts';

/** Creates or changes an upstream with its quirks and probes. */
export async function saveUpstream(carrier: Carrier, step: UpstreamStep): Promise<void> {
  const { name, before, after } = step;
  if (!after) return;
  const { em, by, reason, upstreams } = carrier;
  const id = await savedProvider(carrier, { id: step.id, before, after });
  upstreams.set(name, id);
  const { quirks, probeMinutes } = after;
  if (!same(quirks, before?.quirks ?? [])) await setQuirks(em, { id, version: 'ANY', quirks, reason }, by);
  if (probeMinutes !== (before?.probeMinutes ?? null))
    await setProbing(em, { id, version: 'ANY', probeMinutes, reason }, by.actor);
}

async function savedProvider(
  { em, by, reason, baseUrls, accesses }: Carrier,
  { id, before, after }: { id: string | null; before: UpstreamItem | null; after: UpstreamItem },
): Promise<string> {
  if (id !== null && before && same(providerPart(before), providerPart(after))) return id;
  const checkAddress = async (given: string): Promise<string> => {
    const baseUrl = baseUrls.get(given);
    if (baseUrl !== undefined) return baseUrl;
    throw changedMeanwhile(after.name);
  };
  const isChecked = after.access === null || accesses.has(accessKey(after));
  if (!isChecked) throw changedMeanwhile(after.name);
  const input = { ...providerPart(after), id, version: 'ANY' as const, reason };
  return (await upsertProvider(em, input, { ...by, checkAddress })).id;
}

/** Identifies an access together with what it must fit. */
export function accessKey({ access, protocols, baseUrl }: UpstreamItem): string {
  return canonicalJson({ access, protocols, baseUrl });
}

function changedMeanwhile(name: string): UserFailure {
  const message = `The upstream ${name} has changed meanwhile. Apply the file again.`;
  return new UserFailure('STALE_VERSION', message, 'document');
}

/** The fields that `upsertProvider` stores. */
function providerPart(item: UpstreamItem): Omit<UpstreamItem, 'quirks' | 'probeMinutes'> {
  const { quirks: _q, probeMinutes: _p, ...rest } = item;
  return rest;
}

/** Adds a credential, and removes the one that it replaces. */
export async function saveCredential(carrier: Carrier, { id, after }: CredentialStep): Promise<void> {
  if (!after || after.secret === '') return;
  const { em, by, reason, upstreams } = carrier;
  const { label, secret, certificate } = after;
  if (id !== null) await removeCredential(em, { id, reason }, by);
  await addCredential(
    em,
    { providerId: idOf(upstreams, after.upstream), label, secret, certificate, reason },
    by,
  );
}

/** Creates or changes a route with its quirks. */
export async function saveRoute(carrier: Carrier, { id, before, after }: RouteStep): Promise<void> {
  if (!after) return;
  const { em, by, reason, models, upstreams } = carrier;
  const { quirks, model, upstream, cost, ...plain } = after;
  const input = {
    ...plain,
    ...{ id, version: 'ANY' as const, reason },
    modelId: idOf(models, model),
    providerId: idOf(upstreams, upstream),
    cost: cost === null ? null : amountOf(cost),
  };
  const route = await upsertRoute(em, input, by);
  if (!same(quirks, before?.quirks ?? []))
    await setQuirks(em, { id: route.id, version: 'ANY', quirks, reason }, by);
}

/** Deletes a route. */
export async function removeRoute({ em, by, reason }: Carrier, { id }: RouteStep): Promise<void> {
  if (id !== null) await deleteRoute(em, { id, reason }, by);
}

/** Deletes a credential. */
export async function removeCredentialOf({ em, by, reason }: Carrier, { id }: CredentialStep): Promise<void> {
  if (id !== null) await removeCredential(em, { id, reason }, by);
}

/** Deletes an upstream. */
export async function removeUpstream({ em, by, reason }: Carrier, { id }: UpstreamStep): Promise<void> {
  if (id !== null) await deleteProvider(em, { id, reason }, by);
}
