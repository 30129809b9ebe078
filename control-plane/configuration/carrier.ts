/** State of one application of a file, shared by the functions that change objects. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { parseDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { Settings } from '../process/settings.ts';

/** State that the changes of one file share. */
export interface Carrier {
  em: EntityManager;
  by: { actor: Actor; settings: Settings };
  reason: string;
  /** Ids by name, including those of the objects that were created. */
  models: Map<string, string>;
  upstreams: Map<string, string>;
  /** Checked base addresses in their stored form. */
  baseUrls: ReadonlyMap<string, string>;
  /** Checked accesses, as `accessKey` identifies them. */
  accesses: ReadonlySet<string>;
}

/** The id of a name. Throws NOT_FOUND for an unknown one. */
export function idOf(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined)
    throw new UserFailure('NOT_FOUND', `There is no ${name}. Correct the name.`, 'document');
  return id;
}

/** The amount of a canonical text in dollars. */
export function amountOf(dollars: string): Micros {
  const amount = parseDollars(dollars);
  if (amount === undefined) throw new Error(`${dollars} is no amount in dollars.`);
  return amount;
}
