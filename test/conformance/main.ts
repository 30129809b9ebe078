/**
 * `npm run conformance`: takes the latest results of `npm run fidelity` and `npm run clients` from `.bench/`,
 * if there are any, and writes the page about conformance. Clients that were not run keep their last result.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientResult } from '../clients/results.ts';
import { PAGE_FILE, RESULTS_FILE, readResults } from './files.ts';
import { FORMAT_NAMES, pageOf } from './page.ts';
import type { Conformance, Pair } from './page.ts';

const BENCH = join(import.meta.dirname, '..', '..', '.bench');
const DAY_LENGTH = '2026-11-25'.length;

/** The members of a fidelity report that the page shows. */
interface Report {
  matrix: Record<'A' | 'B' | 'E', Record<string, Record<string, { pass: number; total: number }>>>;
  streams: { valid: number; total: number };
}

/** A file of `.bench/` and the day on which it was written; undefined if it is missing. */
function read<Content>(name: string): { content: Content; day: string } | undefined {
  const file = join(BENCH, name);
  if (!existsSync(file)) return undefined;
  const day = statSync(file).mtime.toISOString().slice(0, DAY_LENGTH);
  return { content: JSON.parse(readFileSync(file, 'utf8')) as Content, day };
}

function pairsOf({ matrix }: Report): Pair[] {
  const formats = Object.keys(FORMAT_NAMES);
  return formats.flatMap((client) =>
    formats.map((upstream) => {
      const share = (direction: 'A' | 'B' | 'E') => {
        const { pass = 0, total = 0 } = matrix[direction][client]?.[upstream] ?? {};
        return { passed: pass, total };
      };
      return { client, upstream, answers: share('A'), requests: share('B'), errors: share('E') };
    }),
  );
}

function withFidelity(results: Conformance): Conformance {
  const whole = read<Report>('fidelity-whole.json');
  const odd = read<Report>('fidelity-odd.json');
  if (!whole || !odd) return results;
  const share = ({ streams }: Report) => ({ passed: streams.valid, total: streams.total });
  const streams = { whole: share(whole.content), odd: share(odd.content) };
  return { ...results, measured: whole.day, pairs: pairsOf(whole.content), streams };
}

/** The formats by their names in the API. */
const DIALECTS: Readonly<Record<string, string>> = {
  CHAT_COMPLETIONS: 'openai-chat',
  RESPONSES: 'openai-responses',
  MESSAGES: 'anthropic-messages',
  GENERATIVE_LANGUAGE: 'google-generate',
};

function withClients(results: Conformance): Conformance {
  const run = read<ClientResult[]>('clients.json');
  if (!run) return results;
  const clients = new Map(results.clients.map((client) => [client.client, client]));
  const named = (formats: readonly string[]) => formats.map((format) => DIALECTS[format] ?? format);
  for (const { skipped, passed, failed, ...about } of run.content) {
    const client = { ...about, passed: named(passed), failed: named(failed) };
    // A machine without a toolchain says nothing about the client.
    if (skipped !== undefined && clients.has(client.client)) continue;
    const [reason] = skipped?.split('\n') ?? [];
    const note = reason === undefined ? {} : { skipped: reason };
    clients.set(client.client, { ...client, measured: run.day, ...note });
  }
  return { ...results, clients: [...clients.values()] };
}

const results = withClients(withFidelity(readResults()));
writeFileSync(RESULTS_FILE, `${JSON.stringify(results, undefined, 2)}\n`);
writeFileSync(PAGE_FILE, pageOf(results));
process.stdout.write('Wrote docs/conformance.md and the results of the console.\n');
