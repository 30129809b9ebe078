/**
 * Affinity: the turns of a conversation draw the same lots on every node, so that they are sent to the
 * upstream and with the credential whose prompt cache is warm (weighted rendezvous hashing, without a shared
 * store). Pure.
 */
import { hash } from 'node:crypto';

/** Number of different seeds. */
export const SEEDS = 2 ** 32;

/**
 * The seed of a conversation, from 0 to SEEDS - 1. It depends on the wallet, so that nobody shares the
 * choices of another customer by sending the same session.
 */
export function seedOf(walletId: string, conversation: string): number {
  return Number.parseInt(hash('sha256', `${walletId} ${conversation}`, 'hex').slice(0, 8), 16);
}

/**
 * The lot that an id draws under a seed: above 0 and below 1, and independent of the lots of other ids. The
 * id with the largest one is chosen, so that one more id or one less moves only the conversations that it
 * wins or held. The hash is MurmurHash's step per character and its last step.
 */
export function lotOf(seed: number, id: string): number {
  let state = seed | 0;
  for (let at = 0; at < id.length; at += 1) {
    state = Math.imul(state ^ id.charCodeAt(at), 0x5b_d1_e9_95);
    state ^= state >>> 15;
  }
  state = Math.imul(state ^ (state >>> 16), 0x85_eb_ca_6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2_b2_ae_35);
  return ((state ^ (state >>> 16)) >>> 0) / SEEDS + 0.5 / SEEDS;
}

/**
 * The lot for a share in proportion to the weight (Efraimidis and Spirakis: sorting by lot^(1/weight) draws
 * without replacement in proportion to the weights).
 */
export function weightedLot(lot: number, weight: number): number {
  return weight > 0 ? lot ** (1 / weight) : 0;
}
