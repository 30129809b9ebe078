/** The latest audit events of one user. */
import { useQuery } from 'urql';
import { graphql } from '../../../graphql.ts';
import { AuditFields, AuditItem } from '../audit/audit-item.tsx';
import { Region } from '../region.tsx';
import { NothingYet } from './user-facts.tsx';

const UserEventsQuery = graphql(
  `
    query UserEvents($filter: AuditFilter) {
      admin {
        auditLog(first: 10, filter: $filter) {
          nodes {
            ...AuditFields
          }
        }
      }
    }
  `,
  [AuditFields],
);

/** The list. */
export function UserEvents({ id }: { id: string }) {
  const variables = { filter: { targetId: id } };
  const [{ data, error }, again] = useQuery({ query: UserEventsQuery, variables });
  return (
    <Region data={data?.admin?.auditLog.nodes} error={error} onRetry={again}>
      {(events) =>
        events.length > 0 ? (
          <ul>
            {events.map((event) => (
              <AuditItem key={event.id} event={event} />
            ))}
          </ul>
        ) : (
          <NothingYet />
        )
      }
    </Region>
  );
}
