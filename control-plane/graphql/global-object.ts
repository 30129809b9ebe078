/**
 * Global objects: anything with an id that the GraphQL field `node(id:)` finds (Relay's Node interface). In
 * code "node" always means a data-plane node.
 */
import 'reflect-metadata';
import { Field, ID, InterfaceType } from 'type-graphql';
import { prefixOf } from '../database/ids.ts';

/** GraphQL type name of each id prefix of a global object. */
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
  itm: 'DerivedItem',
  pool: 'Pool',
  per: 'PoolPeriod',
  quo: 'PoolQuote',
  top: 'TopUp',
};

/** An object with a globally unique id; in the API, the interface Node. */
@InterfaceType('Node', {
  description: 'An object with a globally unique id.',
  resolveType: (value: { id: string }) => TYPE_NAMES[prefixOf(value.id) ?? ''],
})
export abstract class GlobalObject {
  @Field(() => ID, {
    description: 'Opaque, globally unique id with a type prefix, e.g. key_01JD…. Valid in node(id:).',
  })
  id!: string;
}
