/**
 * Selects errors: with `MUTATION_SAMPLE=n`, only every n-th error is tried, the same ones in each run.
 * `MUTATION_OFFSET` (0 to n-1) selects others. All offsets together cover all errors.
 */
import { PluginKind, declareClassPlugin } from '@stryker-mutator/api/plugin';

class Sample {
  #every = Number(process.env.MUTATION_SAMPLE);
  #offset = Number(process.env.MUTATION_OFFSET ?? 0);

  async init() {}

  /** An error that is not in the sample counts neither as noticed nor as missed. */
  async check(mutants) {
    const leftOut = { status: 'compileError', reason: 'not in the sample' };
    const verdict = (id) => (Number(id) % this.#every === this.#offset ? { status: 'passed' } : leftOut);
    return Object.fromEntries(mutants.map(({ id }) => [id, verdict(id)]));
  }
}

/** Read by Stryker. */
export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, 'sample', Sample)];
