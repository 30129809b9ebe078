/** The bar above the explorer: the way back to the console, and its documents. */
import { Mark } from '../components/mark.tsx';

/** Texts of the bar and the title of the page. The editor below speaks English only. */
export const WORDS = {
  en: { title: 'API explorer', console: 'Back to the console', tokens: 'Access tokens', help: 'Help' },
  'zh-CN': { title: 'API 浏览器', console: '返回控制台', tokens: '访问令牌', help: '帮助' },
} as const;

export type ExplorerLanguage = keyof typeof WORDS;

/** The bar. */
export function Header({ language }: { language: ExplorerLanguage }) {
  const words = WORDS[language];
  return (
    <header className="explorer-bar" lang={language}>
      <a href="/" className="explorer-home" aria-label={words.console}>
        <Mark />
      </a>
      <h1>{words.title}</h1>
      <nav aria-label={words.title}>
        <a href="/profile/tokens">{words.tokens}</a>
        <a href="/help">{words.help}</a>
        <a href="/keys">{words.console}</a>
      </nav>
    </header>
  );
}
