/** Renders a reply's Markdown without raw HTML and remote pictures. Links show their full address. */
import { clsx } from 'clsx';
import { ImageOff } from 'lucide-react';
import { isValidElement, lazy, type ReactNode, Suspense } from 'react';
import { type Components, defaultRehypePlugins, Streamdown } from 'streamdown';
import { CodeBlock } from '../../components/code-block.tsx';
import { useTranslation } from '../../translation.ts';

// Loaded with the first code of a known language.
const CodeColours = lazy(async () => ({ default: (await import('./code-colours.tsx')).CodeColours }));

// Without the plugin that parses raw HTML, tags in a reply stay text. The remaining plugin sanitises the
// output.
const CLEANING = [defaultRehypePlugins['sanitize']].filter((plugin) => plugin !== undefined);

const COMPONENTS: Components = {
  a: ({ href, children }) => <SafeLink address={href}>{children}</SafeLink>,
  img: ({ src, alt }) => <BlockedPicture address={typeof src === 'string' ? src : ''} words={alt ?? ''} />,
  pre: ({ children }) => <Code>{children}</Code>,
  code: ({ className, children }) => <code className={className}>{children}</code>,
  inlineCode: ({ children }) => <code className="rounded-tag bg-sunk px-1 py-px">{children}</code>,
  table: ({ children }) => (
    <div className="overflow-x-auto" tabIndex={0}>
      <table className="w-full text-table">{children}</table>
    </div>
  ),
};

/** The text of a reply, with a caret at its end while it is written. */
export function ReplyText({ text, writing }: { text: string; writing: boolean }) {
  return (
    <div className={clsx(TEXT, writing && CARET)}>
      <Streamdown
        mode={writing ? 'streaming' : 'static'}
        rehypePlugins={CLEANING}
        components={COMPONENTS}
        controls={false}
        linkSafety={{ enabled: false }}
      >
        {text}
      </Streamdown>
    </div>
  );
}

function SafeLink({ address = '', children }: { address?: string | undefined; children: ReactNode }) {
  const safe = URL.canParse(address) && /^(https?|mailto):$/.test(new URL(address).protocol);
  if (!safe) return <>{children}</>;
  return (
    <a
      href={address}
      title={address}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="break-words text-accent underline"
    >
      {children}
      {textOf(children) !== address && <span className="text-ink-3"> ({address})</span>}
    </a>
  );
}

function BlockedPicture({ address, words }: { address: string; words: string }) {
  const { t } = useTranslation();
  return (
    <span className="inline-flex items-center gap-2 rounded-control border border-line px-2 text-ink-2">
      <ImageOff size={14} strokeWidth={1.75} aria-hidden="true" />
      {words} {t('playground.imageBlocked', { address: address.slice(0, 120) })}
    </span>
  );
}

function Code({ children }: { children?: ReactNode }) {
  const { t } = useTranslation();
  const inner = isValidElement<{ className?: string; children?: ReactNode }>(children) ? children.props : {};
  const language = /language-([\w+#-]+)/.exec(inner.className ?? '')?.[1];
  const code = textOf(inner.children ?? children).replace(/\n$/, '');
  const head = language ?? t('playground.code');
  const coloured = language !== undefined && (
    <Suspense fallback={code}>
      <CodeColours language={language} code={code} />
    </Suspense>
  );
  return (
    <CodeBlock head={head} code={code} coloured={coloured || code} copyLabel={t('playground.copyCode')} />
  );
}

function textOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(textOf).join('');
  return isValidElement<{ children?: ReactNode }>(node) ? textOf(node.props.children) : '';
}

const TEXT = clsx(
  'text-chat [&_p]:my-2 [&_ul]:my-2 [&_ul]:list-disc [&_ul]:pl-6 [&_ol]:my-2',
  '[&_ol]:list-decimal [&_ol]:pl-6',
  '[&_li]:my-1 [&_h1]:mt-4 [&_h1]:text-section [&_h2]:mt-4 [&_h2]:text-section [&_h3]:mt-3',
  '[&_h3]:font-semibold',
  '[&_strong]:font-semibold [&_em]:italic [&_hr]:my-4 [&_hr]:border-line [&_figure]:my-3',
  '[&_blockquote]:my-2 [&_blockquote]:border-l-2 [&_blockquote]:border-line-strong [&_blockquote]:pl-3',
  '[&_th]:border-b [&_th]:border-line-strong [&_th]:p-1.5 [&_th]:text-left',
  '[&_td]:border-b [&_td]:border-line',
  '[&_td]:p-1.5 [overflow-wrap:anywhere]',
);
const CARET =
  "[&>div>*:last-child>p]:after:content-['▍'] [&>div>p:last-child]:after:content-['▍'] after:text-accent";
