/** The key in the files of the clients that people use, filled in on this device. */
import { useTranslation } from 'react-i18next';
import { CodeBlock } from '../../components/code-block.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { snippets } from './snippets.ts';

const HEAD_CHARACTERS = 11;
const TAIL_CHARACTERS = 4;

/** Tabs, one for each client; Copy holds the whole key, the screen a shortened one. */
export function ClientSetup({ secret, baseAddress }: { secret: string; baseAddress: string }) {
  const { t } = useTranslation();
  const short = `${secret.slice(0, HEAD_CHARACTERS)}…${secret.slice(-TAIL_CHARACTERS)}`;
  const whole = snippets({ key: secret, baseAddress });
  const shown = snippets({ key: short, baseAddress });
  const tabs = whole.map(({ id, word, files }, index) => ({
    id,
    word,
    content: (
      <div className="flex flex-col gap-3">
        {files.map(({ path, content }, place) => (
          <CodeBlock
            key={path}
            head={path}
            code={content}
            shown={shown[index]?.files[place]?.content}
            copyLabel={t('copy.file', { name: path })}
          />
        ))}
      </div>
    ),
  }));
  return (
    <>
      <Tabs label={t('reveal.clients')} tabs={tabs} />
      <p className="mt-3 text-hint text-ink-2">{t('reveal.filled')}</p>
    </>
  );
}
