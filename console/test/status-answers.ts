/** Answers of the fake control plane about uptime and incidents. */
import { ago, models } from './sample.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 90;

/** Uptime of 90 days: good days, a bad one, and the first days without data. */
function uptimeOf(seed: number) {
  const days = Array.from({ length: DAYS }, (_, day) => {
    if (day < seed * 7) return null;
    if (day === 60 + seed) return '0.9312';
    return (day * 7 + seed) % 23 === 0 ? '0.9871' : '1.0000';
  });
  return { share: seed > 12 ? null : '0.9984', days };
}

/** A model with its uptime; null for an unknown name. */
export function modelByName(name: string) {
  const model = models.find((known) => known.name === name);
  const index = model ? models.indexOf(model) : 0;
  return model ? { ...model, uptime: modelUptime(name, index), dailyTimes: dailyTimesOf(index) } : null;
}

/** Times of 90 days: the first days without data, a slow day, and a day without times to the first token. */
function dailyTimesOf(seed: number) {
  const times = Array.from({ length: DAYS }, (_, day) => {
    const p50 = day === 70 ? 4_200 : 600 + ((day * 37 + seed * 11) % 240);
    return {
      __typename: 'ModelDayTimes',
      day: `${new Date(Date.now() - (DAYS - 1 - day) * DAY_MS).toISOString().slice(0, 10)}T00:00:00.000Z`,
      p50FirstTokenMs: day === 80 ? null : p50,
      p95FirstTokenMs: day === 80 ? null : p50 * 2,
      p50LatencyMs: p50 * 4,
      p95LatencyMs: p50 * 9,
    };
  });
  return times.slice(Math.min(seed * 7, DAYS));
}

function modelUptime(name: string, index: number) {
  return { __typename: 'ModelUptime', name, ...uptimeOf(index) };
}

function update(index: number, state: string, message: string) {
  return { __typename: 'IncidentUpdate', id: `inu_${index}`, at: ago(index * HOUR_MS), state, message };
}

const incidents = [
  {
    __typename: 'Incident',
    id: 'inc_1',
    kind: 'DEGRADATION',
    title: 'Slow first tokens',
    state: 'MONITORING',
    modelNames: ['coder-max'],
    families: ['CHAT_COMPLETIONS'],
    startsAt: ago(2 * HOUR_MS),
    endsAt: null,
    resolvedAt: null,
    version: 2,
    updates: [
      update(1, 'MONITORING', 'The provider repaired its network. Times are normal again.'),
      update(2, 'INVESTIGATING', 'Some answers begin late. We look for the cause.'),
    ],
  },
  {
    __typename: 'Incident',
    id: 'inc_2',
    kind: 'MAINTENANCE',
    title: 'Database upgrade',
    state: 'SCHEDULED',
    modelNames: [],
    families: [],
    startsAt: ago(-DAY_MS),
    endsAt: ago(-DAY_MS - HOUR_MS),
    resolvedAt: null,
    version: 1,
    updates: [update(5, 'SCHEDULED', 'Requests are served. The console is away for some minutes.')],
  },
  {
    __typename: 'Incident',
    id: 'inc_3',
    kind: 'OUTAGE',
    title: 'Embeddings failed',
    state: 'RESOLVED',
    modelNames: [],
    families: ['EMBEDDINGS'],
    startsAt: ago(9 * DAY_MS),
    endsAt: null,
    resolvedAt: ago(9 * DAY_MS - HOUR_MS),
    version: 3,
    updates: [update(200, 'RESOLVED', 'It works again.')],
  },
];

const FAMILIES = ['CHAT_COMPLETIONS', 'MESSAGES', 'EMBEDDINGS', 'REALTIME'];

/** The public status. */
export const statusQueries = {
  serviceStatus: () => ({
    __typename: 'ServiceStatus',
    asOf: ago(20_000),
    from: `${new Date(Date.now() - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10)}T00:00:00.000Z`,
    models: models.map(({ name }, index) => modelUptime(name, index)),
    families: FAMILIES.map((family, index) => ({ __typename: 'FamilyUptime', family, ...uptimeOf(index) })),
    incidents,
  }),
};

/** The incidents that administrators see. */
export const adminStatusQueries = { incidents };

/** The mutations of incidents. */
export const statusMutations = {
  adminIncidentCreate: () => ({ incident: incidents[0], userErrors: [] }),
  adminIncidentUpdate: () => ({ incident: incidents[0], userErrors: [] }),
  adminIncidentDelete: () => ({ ok: true, userErrors: [] }),
};
