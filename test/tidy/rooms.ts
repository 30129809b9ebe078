/**
 * The rooms of both planes from top to bottom, and the imports that point up. A room is a folder, or a file
 * of the plane's root. A room imports rooms below it. Exceptions are listed; none may be added.
 */
import type { Source } from './sources.ts';

interface Plane {
  /** From the top: a room imports those after it. */
  rooms: readonly string[];
  /** Imports of a room before it, as `from → to`. */
  upward: readonly string[];
}

export const PLANES: Readonly<Record<string, Plane>> = {
  'data-plane': {
    rooms: [
      ...[
        'main.ts',
        'run',
        'http',
        'openapi',
        'endpoints',
        'pipeline.ts',
        'realtime',
        'answers',
        'services.ts',
        'exchange',
        'state',
      ],
      ...['bill.ts', 'tracing', 'admission', 'permits', 'node', 'settings.ts', 'upstreams', 'ledger', 'call'],
      ...[
        'dialects',
        'limits.ts',
        'metrics.ts',
        'model-metrics.ts',
        'upstream-metrics.ts',
        'pair-counter.ts',
        'histogram.ts',
        'config',
      ],
      'workers',
      ...['log.ts', 'control'],
    ],
    upward: ['admission → services.ts', 'config → state', 'control → upstreams', 'state → exchange'],
  },
  'control-plane': {
    rooms: [
      ...['main.ts', 'local', 'app.ts', 'entities.ts', 'background.ts', 'job-list.ts'],
      ...['figures.ts', 'schema', 'nodes'],
      ...[
        'snippets',
        'configuration',
        'pools',
        'seeds.ts',
        'listener.ts',
        'budget',
        'downloads',
        'tracing',
        'request',
        'service-limits',
      ],
      ...['settings-record.ts', 'secret-key', 'playground', 'clickhouse', 'usage'],
      ...['intelligence', 'payments', 'keys'],
      ...['wallet', 'webhooks', 'lookups.ts', 'accounts', 'upstreams', 'catalog'],
      ...['status', 'audit', 'mail', 'graphql'],
      ...['process', 'database', 'migrations', 'limits.ts'],
    ],
    upward: [
      ...['accounts → request', 'accounts → wallet', 'accounts → intelligence', 'accounts → playground'],
      ...['accounts → keys', 'catalog → lookups.ts', 'database → entities.ts', 'graphql → budget'],
      ...['graphql → accounts', 'graphql → playground', 'graphql → request', 'graphql → usage'],
      ...['intelligence → playground'],
      ...['keys → pools', 'keys → usage', 'lookups.ts → keys', 'nodes → job-list.ts'],
      ...['upstreams → payments', 'upstreams → lookups.ts', 'usage → downloads', 'wallet → downloads'],
    ],
  },
};

/** Rooms that the plane's list lacks, and rooms of the list without a file. */
export function unlistedRooms(plane: string, sources: readonly Source[]): string[] {
  const found = new Set(sources.flatMap(({ path }) => roomOf(plane, path) ?? []));
  const listed = PLANES[plane]?.rooms ?? [];
  return [
    ...[...found].filter((room) => !listed.includes(room)),
    ...listed.filter((room) => !found.has(room)),
  ];
}

/** The imports between rooms of a plane that point up, as `from → to`, sorted. */
export function upwardImports(plane: string, sources: readonly Source[]): string[] {
  const rooms = PLANES[plane]?.rooms ?? [];
  const upward = sources.flatMap(({ path, imports }) =>
    imports.flatMap((name) => {
      const [from, to] = [roomOf(plane, path), roomOf(plane, name)];
      if (from === undefined || to === undefined) return [];
      return rooms.indexOf(to) < rooms.indexOf(from) ? [`${from} → ${to}`] : [];
    }),
  );
  return [...new Set(upward)].toSorted();
}

function roomOf(plane: string, path: string): string | undefined {
  return path.startsWith(`${plane}/`) ? path.split('/')[1] : undefined;
}
