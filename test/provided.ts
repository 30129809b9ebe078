/** Values that the global setup of a test run (postgres.ts) provides to test files. */
declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the run's PostgreSQL, for its superuser. */
    postgresUrl: string;
    /** A folder for files that the test files of a worker share. It is removed after the run. */
    runFolder: string;
  }
}

export {};
