import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/order.ts';

// What one process has compiled serves the others: workers, and planes that are started a hundred times.
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, 'node_modules', '.cache', 'compiled');

/** A test that mocks a module needs modules of its own. */
const MOCKS = ['control-plane/accounts/mail-ways.test.ts'];
const TOGETHER = '{shared,control-plane,data-plane}/**/*.test.ts';

// type-graphql loads graphql as CommonJS; two copies of it in one process refuse each other's types.
const resolve = { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] };
// What a poll waits for may take its time where three workers share two cores with others.
const expect = { poll: { timeout: 20_000, interval: 20 } };
const limits = { testTimeout: 30_000, hookTimeout: 60_000, expect };

export default defineConfig({
  test: {
    globalSetup: ['test/postgres.ts'],
    // Most tests wait for real processes and sockets: three of them keep two cores busy.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        resolve,
        test: {
          ...limits,
          name: 'alone',
          include: ['{console,test}/**/*.test.{ts,tsx}', ...MOCKS],
          exclude: ['**/node_modules/**'],
        },
      },
      {
        resolve,
        test: {
          ...limits,
          name: 'together',
          include: [TOGETHER],
          exclude: ['**/node_modules/**', ...MOCKS],
          // These modules keep nothing between two apps: loading them for each file takes longer than most tests.
          isolate: false,
        },
      },
    ],
  },
});
