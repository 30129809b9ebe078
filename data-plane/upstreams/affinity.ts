/**
 * Affinity by weighted rendezvous hashing: every node gives an upstream the same score for all turns of one
 * conversation. So all turns are sent to the upstream and with the credential whose prompt cache is warm, and
 * nodes need no shared store. Pure.
 */
import { hash } from 'node:crypto';

/** Upper bound of seeds: a seed is a number from 0 to below SEEDS. */
export const SEEDS = 2 ** 32;

/**
 * The seed of a conversation. It depends on the wallet, so that a customer cannot get the upstream of another
 * customer by sending the same session id.
 */
export function seedOf(walletId: string, conversation: string): number {
  return Number.parseInt(hash('sha256', `${walletId} ${conversation}`, 'hex').slice(0, 8), 16);
}

/**
 * The score of a route or credential for a seed: a pseudo-random number above 0 and below 1. The caller uses
 * the id with the highest score. The score of one id does not depend on other ids, so a new id takes only the
 * conversations for which its score is the highest, and a removed id gives up only its own. The hash is one
 * MurmurHash step per character and the final mix of MurmurHash3.
 */
export function scoreOf(seed: number, id: string): number {
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
 * The score with a weight: an id has the highest score for a share of seeds in proportion to its weight
 * (Efraimidis and Spirakis, weighted random sampling). A weight of 0 gives the lowest score.
 */
export function weightedScore(score: number, weight: number): number {
  return weight > 0 ? score ** (1 / weight) : 0;
}
