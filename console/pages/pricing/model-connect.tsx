/** Settings of clients for a model: one tab per client, kept in the address. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CodeBlock } from '../../components/code-block.tsx';
import { Segmented } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';

interface ConnectProps {
  snippets: readonly { client: string; title: string; files: readonly { path: string; content: string }[] }[];
}

/** The tabs, and the files of the selected client; the first client by default. */
export function Connect({ snippets }: ConnectProps) {
  const { t } = useTranslation();
  const search = useSearch({ from: '/pricing/$name' });
  const navigate = useNavigate({ from: '/pricing/$name' });
  const shown = snippets.find(({ client }) => client === search.client) ?? snippets[0];
  if (!shown) return null;
  return (
    <section className="mt-10">
      <h2 className="mb-3 text-section">{t('model.connect')}</h2>
      <div className="relative mb-3 overflow-x-auto py-1">
        <Segmented
          label={t('model.client')}
          value={shown.client}
          onChange={(client) => void navigate({ search: { client }, resetScroll: false })}
          options={snippets.map(({ client, title }) => ({
            value: client,
            word: <span className="whitespace-nowrap">{title}</span>,
          }))}
        />
      </div>
      <div className="flex flex-col gap-3">
        {shown.files.map(({ path, content }) => (
          <CodeBlock key={path} head={path} code={content} copyLabel={t('copy.name', { name: path })} />
        ))}
      </div>
    </section>
  );
}
