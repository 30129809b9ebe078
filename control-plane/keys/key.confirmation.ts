/** Waits until nodes have applied a change of a key, and says so in the payload of its mutation. */
import type { Context } from '../graphql/context.ts';
import type { KeyRow } from './key.entity.ts';

/** A changed key, with the revision whose acknowledgement proves that a node has applied the change. */
export interface KeyRevision {
  key: KeyRow;
  /** 0 for a key without a secret, which nodes do not get. */
  revision: number;
}

/** The members of a payload that say which nodes have applied the change. */
interface Confirmation {
  apiKey: KeyRow | null;
  appliedNodes: number;
  pendingNodeIds: string[];
}

/** The payload of a mutation that failed. */
export const UNCONFIRMED: Readonly<Confirmation> = { apiKey: null, appliedNodes: 0, pendingNodeIds: [] };

/** The payload of a change after waiting for nodes. Call it after the commit. */
export async function confirmed(
  { nodeFeed }: Pick<Context, 'nodeFeed'>,
  { key, revision }: KeyRevision,
): Promise<Confirmation> {
  if (revision === 0) return { ...UNCONFIRMED, apiKey: key };
  const { appliedNodes, pendingNodes } = await nodeFeed.waitForAcks(revision);
  return { apiKey: key, appliedNodes, pendingNodeIds: pendingNodes };
}
