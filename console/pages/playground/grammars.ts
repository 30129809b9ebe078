/** Grammars of programming languages, by the names that models write above code. Each one is a chunk. */
import type { LanguageFn } from 'highlight.js';

/** A grammar, and the other names of its language. */
interface Grammar {
  also: readonly string[];
  load: () => Promise<{ default: LanguageFn }>;
}

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  bash: { also: ['sh', 'shell', 'zsh', 'console'], load: () => import('highlight.js/lib/languages/bash') },
  c: { also: ['h'], load: () => import('highlight.js/lib/languages/c') },
  cpp: { also: ['c++', 'cc', 'hpp'], load: () => import('highlight.js/lib/languages/cpp') },
  csharp: { also: ['cs', 'c#'], load: () => import('highlight.js/lib/languages/csharp') },
  css: { also: [], load: () => import('highlight.js/lib/languages/css') },
  diff: { also: ['patch'], load: () => import('highlight.js/lib/languages/diff') },
  go: { also: ['golang'], load: () => import('highlight.js/lib/languages/go') },
  java: { also: [], load: () => import('highlight.js/lib/languages/java') },
  javascript: { also: ['js', 'jsx', 'mjs'], load: () => import('highlight.js/lib/languages/javascript') },
  json: { also: ['jsonc', 'json5'], load: () => import('highlight.js/lib/languages/json') },
  kotlin: { also: ['kt'], load: () => import('highlight.js/lib/languages/kotlin') },
  php: { also: [], load: () => import('highlight.js/lib/languages/php') },
  python: { also: ['py'], load: () => import('highlight.js/lib/languages/python') },
  ruby: { also: ['rb'], load: () => import('highlight.js/lib/languages/ruby') },
  rust: { also: ['rs'], load: () => import('highlight.js/lib/languages/rust') },
  sql: { also: ['postgresql', 'mysql'], load: () => import('highlight.js/lib/languages/sql') },
  swift: { also: [], load: () => import('highlight.js/lib/languages/swift') },
  typescript: { also: ['ts', 'tsx', 'mts'], load: () => import('highlight.js/lib/languages/typescript') },
  xml: { also: ['html', 'svg', 'vue'], load: () => import('highlight.js/lib/languages/xml') },
  yaml: { also: ['yml'], load: () => import('highlight.js/lib/languages/yaml') },
};

/** The languages with a grammar. */
export const LANGUAGES = Object.keys(GRAMMARS);

/** Loads the grammar of a language; undefined if there is none. */
export async function grammarOf(language: string): Promise<LanguageFn | undefined> {
  const wanted = language.toLowerCase();
  const name = LANGUAGES.find((known) => known === wanted || GRAMMARS[known]?.also.includes(wanted));
  return name === undefined ? undefined : (await GRAMMARS[name]?.load())?.default;
}
