/** A filter of a list by one user, who is chosen by the address. */
import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { type Lookup, LookupFilter } from './lookup-filter.tsx';

const UserChoicesQuery = graphql(`
  query UserChoices($search: String!) {
    admin {
      users(first: 8, search: $search) {
        nodes {
          id
          email
        }
      }
    }
  }
`);

const ChosenUserQuery = graphql(`
  query ChosenUser($id: ID!) {
    admin {
      user(id: $id) {
        id
        email
      }
    }
  }
`);

interface UserFilterProps {
  /** The id of the chosen user. */
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** The filter. */
export function UserFilter({ value, onChange }: UserFilterProps) {
  const { t } = useTranslation();
  const name = t('admin.userFilter.user');
  const [{ data }] = useQuery({
    query: ChosenUserQuery,
    variables: { id: value ?? '' },
    pause: value === undefined,
  });
  return (
    <LookupFilter
      name={name}
      hint={t('admin.userFilter.hint')}
      label={t('admin.userFilter.label', { name })}
      value={value}
      chosen={data?.admin?.user?.email}
      useLookup={useUsers}
      onChange={onChange}
    />
  );
}

function useUsers(search: string): Lookup {
  const pause = search === '';
  const [{ data, fetching }] = useQuery({ query: UserChoicesQuery, variables: { search }, pause });
  const users = pause ? [] : (data?.admin?.users.nodes ?? []);
  return { choices: users.map(({ id, email }) => ({ value: id, word: email })), fetching };
}
