/** Answers of the fake control plane about the audit log. */
import { connection } from './connection.ts';
import { ago } from './sample.ts';

const HOUR_MS = 3_600_000;

const ACTIONS = ['provider.update', 'wallet.adjust', 'group-ratio.set', 'user.update', 'node.create'];

const actors = [
  { kind: 'USER', id: 'usr_admin_0', label: 'root@gateway.example' },
  { kind: 'SYSTEM', id: null, label: 'system' },
];

const events = ACTIONS.map((action, index) => ({
  __typename: 'AuditEvent',
  id: `aud_${index}`,
  at: ago(index * 3 * HOUR_MS),
  action,
  actor: actors[0],
  targetType: 'UpstreamProvider',
  targetId: 'prv_north-eu',
  target: { __typename: 'UpstreamProvider', id: 'prv_north-eu', name: 'north-eu' },
  before: index === 0 ? null : { ratio: '1' },
  after: { ratio: '0.9' },
  reason: 'Maintenance window, 21 Nov',
  ip: '192.0.2.61',
  requestId: `req_${index}`,
  hash: `h${9 - index}`,
  prevHash: `h${8 - index}`,
}));

interface LogArguments {
  first: number;
  after?: string | null;
  filter?: { actorKinds?: string[] } | null;
}

/** The fields of administrators. */
export const auditQueries = {
  auditLog: ({ first, after, filter }: LogArguments) =>
    connection(
      filter?.actorKinds ? events.map((event) => ({ ...event, actor: actors[1] })) : events,
      first,
      after ?? null,
    ),
  auditActions: ACTIONS.toSorted(),
  auditActors: ({ search }: { search?: string | null }) =>
    actors.filter(({ label }) => label.includes(search ?? '')),
  auditChain: ({ recent }: { recent: number | null }) => ({
    whole: true,
    brokenAt: null,
    checked: recent ?? 18_204,
    complete: recent === null,
  }),
};
