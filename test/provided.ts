/** Types of the values that the global setup of a test run (postgres.ts) provides to test files. */
declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of the run's PostgreSQL, with the superuser's password. */
    postgresUrl: string;
    /** Temporary folder of this run, for files that several test files share. It is removed after the run. */
    runFolder: string;
  }
}

export {};
