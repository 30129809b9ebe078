/** Words for the actions and the types of objects in the audit log, which the service sends as codes. */
import type { TFunction } from '../../../translation.ts';

/** The actions that have words. */
export const ACTIONS = [
  'access-token.create',
  'chain.resume',
  'chain.set',
  'chain.token.set',
  'credential.add',
  'credential.remove',
  'depositKey.set',
  'group-ratio.set',
  'incident.create',
  'incident.delete',
  'incident.update',
  'key.disable',
  'key.end-grace',
  'key.revoke',
  'limits.set',
  'model.create',
  'model.delete',
  'model.routing',
  'model.set-state',
  'model.update',
  'node.create',
  'node.drain',
  'node.forget',
  'node.rotateToken',
  'payments.set',
  'personal_intelligence.delete_all',
  'personal_intelligence.forget',
  'personal_intelligence.settings',
  'personal_intelligence.switch',
  'policy.publish',
  'pool.cancel',
  'pool.purchase',
  'pool.renew',
  'pool.update',
  'provider.create',
  'provider.delete',
  'provider.probing',
  'provider.quirks',
  'provider.update',
  'route.create',
  'route.delete',
  'route.quirks',
  'route.update',
  'storefront.set',
  'topUp.refund',
  'user.create',
  'user.create-link',
  'user.delete',
  'user.export',
  'user.revoke-session',
  'user.revoke-sessions',
  'user.update',
  'wallet.adjust',
] as const;

/** The types of objects that have words. */
export const TYPES = [
  'ApiKey',
  'CatalogModel',
  'Chain',
  'DataPlaneNode',
  'DepositKey',
  'GroupRatio',
  'Incident',
  'PaymentSettings',
  'PersonalIntelligenceSettings',
  'PolicyVersion',
  'Pool',
  'PoolStorefront',
  'ServiceLimits',
  'TopUp',
  'UpstreamProvider',
  'UpstreamRoute',
  'User',
  'Wallet',
] as const;

/** The words for an action; undefined for one without words, as of a later release. */
export function actionWords(t: TFunction, action: string): string | undefined {
  const known = ACTIONS.find((one) => one === action);
  return known && t(`admin.audit.actions.${known}`);
}

/** The word for a type of objects; its code if there is none. */
export function typeWord(t: TFunction, type: string): string {
  const known = TYPES.find((one) => one === type);
  return known ? t(`admin.audit.types.${known}`) : type;
}

interface Actor {
  kind: 'USER' | 'ACCESS_TOKEN' | 'NODE' | 'SYSTEM' | 'WEBHOOK';
  label: string;
}

/** The name of an actor. A token, a node and a payment provider have their kind beside it. */
export function actorName(t: TFunction, { kind, label }: Actor): string {
  if (kind === 'USER') return label;
  const word = t(`admin.audit.actorKinds.${kind}`);
  return kind === 'SYSTEM' ? word : `${label} (${word})`;
}
