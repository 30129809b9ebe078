/** The tests: which belong to which tier, and which share their modules in one process. */
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/order.ts';

// Code compiled by one process serves the others: workers, and planes that are started a hundred times.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, 'node_modules', '.cache', 'compiled');

const TESTS = '{shared,control-plane,data-plane,console,test}/**/*.test.{ts,tsx}';
/** Tests of the proof tier: long, and with seeds that change. */
const PROOFS = '{shared,control-plane,data-plane,console,test}/**/*.proof.test.ts';
const PACKAGES = '**/node_modules/**';

const resolve = {
  alias: [
    // type-graphql loads graphql as CommonJS; two copies of it in one process refuse each other's types.
    { find: /^graphql$/, replacement: 'graphql/index.js' },
    { find: /^@node-rs\/argon2$/, replacement: path.join(import.meta.dirname, 'test/quick-argon2.ts') },
  ],
};
// Limits for a machine whose two cores are shared with other work.
const expect = { poll: { timeout: 20_000, interval: 20 } };
const limits = { testTimeout: 60_000, hookTimeout: 90_000, expect };
// No module keeps state between two apps. Loading the modules for each file takes longer than most tests.
const together = { ...limits, isolate: false };

export default defineConfig({
  test: {
    globalSetup: ['test/postgres.ts'],
    // Many tests wait for processes, sockets and pages: four workers keep two cores busy.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        resolve,
        test: { ...together, name: 'push', include: [TESTS], exclude: [PACKAGES, PROOFS] },
      },
      { resolve, test: { ...together, name: 'proof', include: [PROOFS], exclude: [PACKAGES] } },
    ],
  },
});
