/**
 * Counts which statements, functions and branches of our code an input reaches. A load hook inserts counters
 * into our sources; all counters of the process are one byte array, which is cleared before each input.
 */
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createInstrumenter } from '@vitest/istanbul-lib-instrument';

const ROOT = join(import.meta.dirname, '..', '..');
const VARIABLE = '__fuzzCoverage__';
const OURS = ['data-plane', 'shared', join('dist', 'control-plane')].map(
  (folder) => join(ROOT, folder) + sep,
);
const PLANE = join(ROOT, 'control-plane') + sep;
const COMPILED = join(ROOT, 'dist', 'control-plane') + sep;
const LITERAL = /'([^'\\\n]{1,40})'/g;
/** Classes of hit counts, as AFL has them: 1, 2, 3, 4–7, 8–15, 16–31, 32–127, 128 and more. */
const CLASSES = Uint8Array.from({ length: 256 }, (_, hits) => classOf(hits));

interface FileCounters {
  s: ArrayLike<number>;
  f: ArrayLike<number>;
  b: Record<string, ArrayLike<number>>;
}

/** Text literals of all instrumented files: words that the code compares its input with. */
export const literals = new Set<string>();

/** Inserts counters into each of our files that is imported from now on, in this thread. */
export function instrumentImports(): void {
  const instrumenter = createInstrumenter({
    esModules: true,
    produceSourceMap: false,
    coverageVariable: VARIABLE,
  });
  registerHooks({
    // Node cannot run the decorators of the control plane: its compiled files are loaded instead.
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const path = resolved.url.startsWith('file:') ? fileURLToPath(resolved.url) : '';
      if (!path.startsWith(PLANE) || !path.endsWith('.ts')) return resolved;
      const compiled = COMPILED + path.slice(PLANE.length).replace(/ts$/, 'js');
      if (!existsSync(compiled)) throw new Error(`${compiled} is missing. Run "npm run build".`);
      return { ...resolved, url: pathToFileURL(compiled).href, format: 'module' };
    },
    load: (url, context, next) => {
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (!OURS.some((folder) => path.startsWith(folder)) || !/\.[jt]s$/.test(path))
        return next(url, context);
      const text = readFileSync(path, 'utf8');
      for (const [, literal = ''] of text.matchAll(LITERAL)) literals.add(literal);
      const code = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
      return { format: 'module', source: instrumenter.instrumentSync(code, path), shortCircuit: true };
    },
  });
}

/** The counters of all files that were imported, and what earlier inputs reached. */
export class Coverage {
  readonly #hits: Uint8Array;
  readonly #words: Uint32Array;
  /** One bit for each class of hit counts that was reached. */
  readonly #seen: Uint8Array;
  reached = 0;

  constructor() {
    const files = Object.values(countersOf());
    const size = files.reduce((sum, file) => sum + sizeOf(file), 0);
    this.#hits = new Uint8Array(Math.ceil(size / 4) * 4);
    this.#words = new Uint32Array(this.#hits.buffer);
    this.#seen = new Uint8Array(this.#hits.length);
    let at = 0;
    const take = (length: number): Uint8Array => this.#hits.subarray(at, (at += length));
    // The inserted code looks its counters up in these objects at each step.
    for (const file of files) {
      file.s = take(lengthOf(file.s));
      file.f = take(lengthOf(file.f));
      for (const name of Object.keys(file.b)) file.b[name] = take(lengthOf(file.b[name] ?? []));
    }
  }

  get size(): number {
    return this.#hits.length;
  }

  clear(): void {
    this.#hits.fill(0);
  }

  /** Notes what the last input reached. Returns whether some counter had a new class of hits. */
  note(): boolean {
    let isNew = false;
    for (let word = 0; word < this.#words.length; word += 1) {
      if (this.#words[word] === 0) continue;
      for (let at = word * 4; at < word * 4 + 4; at += 1) {
        const bit = CLASSES[this.#hits[at] ?? 0] ?? 0;
        const seen = this.#seen[at] ?? 0;
        if ((bit & ~seen) === 0) continue;
        if (seen === 0) this.reached += 1;
        this.#seen[at] = seen | bit;
        isNew = true;
      }
    }
    return isNew;
  }
}

function countersOf(): Record<string, FileCounters> {
  return (globalThis as { [VARIABLE]?: Record<string, FileCounters> })[VARIABLE] ?? {};
}

function sizeOf({ s, f, b }: FileCounters): number {
  return Object.values(b).reduce((sum, each) => sum + lengthOf(each), lengthOf(s) + lengthOf(f));
}

/** The counters of statements and functions are objects with the names 0, 1, 2, … */
function lengthOf(counters: ArrayLike<number>): number {
  return Object.keys(counters).length;
}

function classOf(hits: number): number {
  const bounds = [1, 2, 3, 4, 8, 16, 32, 128];
  const at = bounds.findLastIndex((bound) => hits >= bound);
  return at < 0 ? 0 : 1 << at;
}
