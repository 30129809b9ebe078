/** Where `MUTATION_SAMPLE` is n every n-th error alone is tried: the same ones each time, in all files. */
import { PluginKind, declareClassPlugin } from '@stryker-mutator/api/plugin';

class Sample {
  #every = Number(process.env.MUTATION_SAMPLE);

  async init() {}

  /** What is left out counts neither as noticed nor as missed. */
  async check(mutants) {
    const leftOut = { status: 'compileError', reason: 'not in the sample' };
    const verdict = (id) => (Number(id) % this.#every === 0 ? { status: 'passed' } : leftOut);
    return Object.fromEntries(mutants.map(({ id }) => [id, verdict(id)]));
  }
}

/** Read by Stryker. */
export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, 'sample', Sample)];
