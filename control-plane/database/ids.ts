/** Ids of stored objects: a type prefix and a ULID, the same in the database and in the API. */
import { ulidFactory } from './ulids.ts';

/** One prefix per type of object. */
type IdPrefix =
  | 'usr'
  | 'ses'
  | 'pol'
  | 'acc'
  | 'lnk'
  | 'tok'
  | 'psk'
  | 'idn'
  | 'reg'
  | 'mai'
  | 'exp'
  | 'evt'
  | 'mdl'
  | 'prv'
  | 'crd'
  | 'rte'
  | 'key'
  | 'alm'
  | 'wal'
  | 'led'
  | 'txn'
  | 'lse'
  | 'use'
  | 'nod'
  | 'pool'
  | 'per'
  | 'quo'
  | 'prm'
  | 'top'
  | 'rfn'
  | 'whs'
  | 'whe'
  | 'whd'
  | 'whm'
  | 'xpk'
  | 'adr'
  | 'fix'
  | 'con'
  | 'msg'
  | 'itm'
  | 'inc'
  | 'inu';

const nextUlid = ulidFactory();

/** A new unique id such as `key_01JD…`. Ids of one process sort by their creation. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid()}`;
}

/** The prefix of an id; undefined if the text is not an id. */
export function prefixOf(id: string): string | undefined {
  return /^([a-z]{3,4})_[0-9A-HJKMNP-TV-Z]{26}$/.exec(id)?.[1];
}
