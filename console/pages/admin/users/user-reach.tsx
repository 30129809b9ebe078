/** How many keys and browsers of a user a change affects. */
import { useQuery } from 'urql';
import { Count } from '../../../components/count.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { graphql } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';

const UserReachQuery = graphql(`
  query UserReach($id: ID!) {
    admin {
      user(id: $id) {
        id
        apiKeys(first: 1, filter: { states: [ENABLED] }) {
          totalCount
        }
        sessions(first: 1) {
          totalCount
        }
      }
    }
  }
`);

/** The current figures. */
export function UserReach({ id }: { id: string }) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: UserReachQuery, variables: { id }, requestPolicy: 'network-only' });
  const user = data?.admin?.user;
  if (!user) return null;
  return (
    <LeaderList>
      <LeaderRow name={t('admin.users.enabledKeys')}>
        <Count of={user.apiKeys.totalCount} />
      </LeaderRow>
      <LeaderRow name={t('admin.user.sessions')}>
        <Count of={user.sessions.totalCount} />
      </LeaderRow>
    </LeaderList>
  );
}
