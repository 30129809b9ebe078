/** Shows in figures what deleting the chats, or closing the account, would remove. */
import { useQuery } from 'urql';
import { Count } from '../../components/count.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';

const AtStakeQuery = graphql(`
  query AtStake {
    viewer {
      id
      apiKeys(first: 1, filter: { states: [ENABLED] }) {
        totalCount
      }
      pools(first: 1, state: [ACTIVE, EXPIRING]) {
        totalCount
      }
      wallet {
        id
        available
      }
      personalIntelligence {
        storedConversationCount
      }
    }
  }
`);

/** The figures of the chats; with `everything`, of the whole account. */
export function AtStake({ everything = false }: { everything?: boolean }) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: AtStakeQuery, requestPolicy: 'network-only' });
  const viewer = data?.viewer;
  if (!viewer) return null;
  return (
    <LeaderList>
      <LeaderRow name={t('profile.chats')}>
        <Count of={viewer.personalIntelligence.storedConversationCount} />
      </LeaderRow>
      {everything && (
        <>
          <LeaderRow name={t('profile.keysAtStake')}>
            <Count of={viewer.apiKeys.totalCount} />
          </LeaderRow>
          <LeaderRow name={t('profile.poolsAtStake')}>
            <Count of={viewer.pools.totalCount} />
          </LeaderRow>
          <LeaderRow name={t('profile.moneyAtStake')}>
            <Money amount={viewer.wallet.available} />
          </LeaderRow>
        </>
      )}
    </LeaderList>
  );
}
