/** Writes each error that the tests missed, or that made them time out, as soon as it is known. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { PluginKind, declareClassPlugin } from '@stryker-mutator/api/plugin';

const REPORTED = new Set(['Survived', 'NoCoverage', 'Timeout', 'RuntimeError']);

class Missed {
  #file = `.bench/mutation-missed-${process.env.MUTATION_GROUP}.txt`;

  constructor() {
    mkdirSync('.bench', { recursive: true });
    writeFileSync(this.#file, '');
  }

  onMutantTested({ fileName, location, mutatorName, replacement, status }) {
    if (!REPORTED.has(status)) return;
    const { line, column } = location.start;
    const place = `${fileName.slice(process.cwd().length + 1)}:${line}:${column}`;
    const error = String(replacement).replace(/\s+/g, ' ').slice(0, 80);
    appendFileSync(this.#file, `${place} ${status} ${mutatorName} => ${error}\n`);
  }
}

/** Read by Stryker. */
export const strykerPlugins = [declareClassPlugin(PluginKind.Reporter, 'missed', Missed)];
