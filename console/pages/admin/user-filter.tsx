/** A filter of a list by one user, who is chosen by the address. */
import { clsx } from 'clsx';
import { useEffect, useId, useState } from 'react';
import { useQuery } from 'urql';
import { INPUT_FRAME } from '../../components/field.tsx';
import { Filter } from '../../components/menu.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';

const PAUSE_MS = 250;

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
  /** The relation of the user to the rows, e.g. "User" or "Actor". */
  name: string;
  /** The id of the chosen user. */
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** The filter: an input that proposes addresses, or the chosen user with a button that removes the filter. */
export function UserFilter({ name, value, onChange }: UserFilterProps) {
  return value === undefined ? (
    <Choice name={name} onChange={onChange} />
  ) : (
    <Chosen name={name} value={value} onChange={onChange} />
  );
}

function Chosen({ name, value, onChange }: UserFilterProps & { value: string }) {
  const [{ data }] = useQuery({ query: ChosenUserQuery, variables: { id: value } });
  const word = data?.admin?.user?.email ?? value;
  return <Filter name={name} value={value} options={[{ value, word }]} onChange={onChange} />;
}

function Choice({ name, onChange }: Pick<UserFilterProps, 'name' | 'onChange'>) {
  const { t } = useTranslation();
  const list = useId();
  const [text, setText] = useState('');
  const search = usePaused(text.trim());
  const [{ data, fetching }] = useQuery({
    query: UserChoicesQuery,
    variables: { search },
    pause: search === '',
  });
  const found = search === '' ? [] : (data?.admin?.users.nodes ?? []);
  // While it waits for an answer, the list has the users of the former text.
  const isCurrent = !fetching && search === text.trim();
  const exact = found.find(({ email }) => email === search.toLowerCase())?.id;
  useEffect(() => {
    if (exact !== undefined) onChange(exact);
    // A whole address chooses its user once, whether it was typed or taken from the proposals.
  }, [exact]);
  return (
    <form
      className={clsx(FRAME, INPUT_FRAME)}
      onSubmit={(event) => {
        event.preventDefault();
        const [first] = found;
        if (first && isCurrent) onChange(first.id);
      }}
    >
      <span className="flex-none text-table text-ink-2" aria-hidden="true">
        {name}
      </span>
      <input
        type="search"
        list={list}
        aria-label={t('admin.userFilter.label', { name })}
        placeholder={t('admin.userFilter.hint')}
        value={text}
        autoComplete="off"
        className="h-full w-full min-w-0 appearance-none bg-transparent text-table outline-none"
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
      <datalist id={list}>
        {found.map(({ id, email }) => (
          <option key={id} value={email} />
        ))}
      </datalist>
    </form>
  );
}

const FRAME = 'flex h-8 w-[248px] items-center gap-2 border-control px-2.5 max-sm:w-full touch:h-11';

/** The text once it has not changed for a moment. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      setPaused(text);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  return paused;
}
