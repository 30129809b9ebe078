/** Settings of clients for a model. The chosen client is kept in the address. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Picker } from '../../components/picker.tsx';
import { useTranslation } from '../../translation.ts';
import { clientGroups, clientOf } from '../connect/clients.ts';
import { SetUp, type Snippet } from '../connect/set-up.tsx';

/** The picker, and the settings of the chosen client. */
export function Connect({ snippets }: { snippets: readonly Snippet[] }) {
  const { t } = useTranslation();
  const search = useSearch({ from: '/pricing/$name' });
  const navigate = useNavigate({ from: '/pricing/$name' });
  const chosen = clientOf(search.client);
  const shown = snippets.find(({ client }) => client === chosen);
  if (!shown) return null;
  return (
    <section className="mt-10">
      <div className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4">
        <h2 className="text-section">{t('model.connect')}</h2>
        <Link to="/quickstart" search={{ client: chosen }} className="text-table text-accent underline">
          {t('shell.quickstart')}
        </Link>
      </div>
      <div className="mb-5">
        <Picker
          label={t('connect.tool')}
          groups={clientGroups(t)}
          value={chosen}
          onChange={(client) => void navigate({ search: { client }, resetScroll: false })}
        />
      </div>
      <SetUp snippet={shown} />
    </section>
  );
}
