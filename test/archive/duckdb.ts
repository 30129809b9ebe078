/** Reads Parquet files with DuckDB, which shares no code with the writer. */
import { DuckDBInstance } from '@duckdb/node-api';

/** The rows of a statement; numbers of 64 bits and times are texts. */
export async function askDuckDb(statement: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run("set timezone = 'UTC'");
    const answer = await connection.runAndReadAll(statement);
    return answer.getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
