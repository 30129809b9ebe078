/**
 * Ids of everything the control plane stores: a type prefix and a ULID, the same in the database and on the
 * API.
 */
import { monotonicFactory } from 'ulid';

/** One prefix per kind of thing; `node(id:)` finds the kind by it. */
export type IdPrefix =
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
  | 'con'
  | 'msg';

const nextUlid = monotonicFactory();

/** A new id such as `key_01JD…`: unique, and sorted by time of creation within one process. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid()}`;
}

/** The prefix of an id, or undefined where the text is not shaped like one. */
export function prefixOf(id: string): string | undefined {
  return /^([a-z]{3,4})_[0-9A-HJKMNP-TV-Z]{26}$/.exec(id)?.[1];
}
