/** The Relay interface of everything that has an id. */
import 'reflect-metadata';
import { Field, ID, InterfaceType } from 'type-graphql';
import { prefixOf } from './ids.ts';

/** Type name of each id prefix that `node(id:)` and fields of type Node can return. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  usr: 'User',
  ses: 'Session',
  tok: 'AccessToken',
  psk: 'Passkey',
  idn: 'LinkedIdentity',
  pol: 'PolicyVersion',
  key: 'ApiKey',
  mdl: 'CatalogModel',
  prv: 'UpstreamProvider',
  crd: 'UpstreamCredential',
  rte: 'UpstreamRoute',
  wal: 'Wallet',
  led: 'LedgerEntry',
  use: 'UsageEntry',
  nod: 'DataPlaneNode',
  evt: 'AuditEvent',
  con: 'Conversation',
  msg: 'Message',
  pool: 'Pool',
  per: 'PoolPeriod',
  quo: 'PoolQuote',
};

/** Whatever has a globally unique id. */
@InterfaceType('Node', {
  description: 'Whatever has a globally unique id.',
  resolveType: (value: { id: string }) => TYPE_NAMES[prefixOf(value.id) ?? ''],
})
export abstract class NodeInterface {
  @Field(() => ID, {
    description: 'Opaque, type-prefixed, globally unique id, e.g. key_01JD…; usable in node(id:).',
  })
  id!: string;
}
