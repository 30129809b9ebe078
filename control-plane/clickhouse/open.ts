/** Opens ClickHouse: the export of the usage log, and the reader of pages. */
import type { MikroORM } from '@mikro-orm/postgresql';
import { startExporter } from './exporter.ts';
import { ClickHouseUsage } from './reader.ts';
import { ClickHouseStore } from './store.ts';
import type { UsageReader } from '../usage/usage.reader.ts';

interface OpenParts {
  orm: MikroORM;
  log(line: Record<string, unknown>): void;
}

/** Starts the export. ClickHouse need not be reachable: PostgreSQL answers until it is. */
export function openClickHouse(
  url: string,
  { orm, log }: OpenParts,
): { usage: UsageReader; stop(): Promise<void> } {
  const store = new ClickHouseStore(url);
  const exporter = startExporter({ em: () => orm.em.fork(), store, log });
  return {
    usage: new ClickHouseUsage(store, undefined, log),
    stop: async () => {
      await exporter.stop();
      await store.close();
    },
  };
}
