import { defineConfig } from 'vitest/config';

export default defineConfig({
  // type-graphql loads graphql as CommonJS; two copies of it in one process refuse each other's types.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['{shared,data-plane,control-plane,console,test}/**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', 'dist/**'],
    globalSetup: ['test/postgres.ts'],
    // Most tests wait for real processes and sockets: one worker, the default on two cores, leaves one idle.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
