/**
 * Where `MUTATION_SAMPLE` is n every n-th error alone is tried: the same ones each time, in all files.
 * `MUTATION_OFFSET` (0 to n-1) takes others: all offsets together are all errors, in n pieces.
 */
import { PluginKind, declareClassPlugin } from '@stryker-mutator/api/plugin';

class Sample {
  #every = Number(process.env.MUTATION_SAMPLE);
  #offset = Number(process.env.MUTATION_OFFSET ?? 0);

  async init() {}

  /** What is left out counts neither as noticed nor as missed. */
  async check(mutants) {
    const leftOut = { status: 'compileError', reason: 'not in the sample' };
    const verdict = (id) => (Number(id) % this.#every === this.#offset ? { status: 'passed' } : leftOut);
    return Object.fromEntries(mutants.map(({ id }) => [id, verdict(id)]));
  }
}

/** Read by Stryker. */
export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, 'sample', Sample)];
