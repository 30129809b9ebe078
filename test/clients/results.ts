/** Results of the clients: one line for each as they come, and a file for the page about conformance. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');

/** The verdict over one client, and the formats in which it failed or passed. */
export interface ClientResult {
  client: string;
  version: string;
  passed: string[];
  failed: string[];
  /** Why it was not run. */
  skipped?: string;
}

interface Run {
  client: string;
  version: string;
  /** The upstream's format. */
  format: string;
  wrong: string | undefined;
  note: string;
}

/** All results of one command. */
export class Results {
  readonly #results = new Map<string, ClientResult>();

  /** Adds one run, and prints it. A format has passed if all its runs have. */
  add({ client, version, format, wrong, note }: Run): void {
    const result = this.#of(client, version);
    if (wrong !== undefined) {
      if (!result.failed.includes(format)) result.failed.push(format);
      result.passed = result.passed.filter((passed) => passed !== format);
    } else if (!result.failed.includes(format) && !result.passed.includes(format)) result.passed.push(format);
    process.stdout.write(`${client}, ${format}, ${wrong === undefined ? note : `FAILED: ${note}`}\n`);
  }

  /** Notes a client that cannot be run here, and prints why. */
  skip({ client, version }: Pick<Run, 'client' | 'version'>, reason: string): void {
    this.#of(client, version).skipped = reason;
    process.stdout.write(`${client}: skipped, ${reason}\n`);
  }

  /** Writes the file and the sum. Returns the exit code. */
  finish(): number {
    const clients = [...this.#results.values()];
    mkdirSync(OUTPUT, { recursive: true });
    writeFileSync(join(OUTPUT, 'clients.json'), `${JSON.stringify(clients, undefined, 2)}\n`);
    const failures = clients.reduce((sum, { failed }) => sum + failed.length, 0);
    process.stdout.write(failures === 0 ? 'All passed.\n' : `${failures} failed.\n`);
    return failures === 0 ? 0 : 1;
  }

  #of(client: string, version: string): ClientResult {
    const known = this.#results.get(client);
    if (known) return known;
    const created: ClientResult = { client, version, passed: [], failed: [] };
    this.#results.set(client, created);
    return created;
  }
}
