/**
 * Vite plugin for a fast first load of each page. It adds the script for early data to the HTML, shortens
 * the script of the theme, and writes `pages.json`: the scripts and the first view of each page, which the
 * control plane adds to the HTML.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConsolePage } from '@gateway/shared/console-pages';
import { type HtmlTagDescriptor, minify, type Plugin, type Rolldown } from 'vite';
import { prerenderPages } from './prerender/build.ts';
import { type Route, routesIn } from './route-list.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const EARLY = path.join(HERE, 'early.ts');
/** The browser paints nothing before this script has run, so it is kept short. */
const THEME = 'theme.js';
const ROUTES = ['routes.tsx', 'admin-routes.tsx'];
/**
 * The folders of texts. The entry script holds the English texts of the frame and the list of areas, so only
 * Chinese pages load them separately.
 */
const WORDS = { en: 'messages/en', 'zh-CN': 'messages/zh-cn' } as const;

/** The plugin, for the console's build. */
export function delivery(): Plugin {
  return {
    name: 'console-delivery',
    transformIndexHtml: { order: 'post', handler: (_html, { bundle }) => (bundle ? firstTags(bundle) : []) },
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const routes = readRoutes();
        const views = await prerenderPages(routes.filter(({ headFirst }) => headFirst).map(pathOf));
        const source = JSON.stringify(listPages(new Chunks(bundle), routes, views));
        this.emitFile({ type: 'asset', fileName: 'pages.json', source });
        this.emitFile({ type: 'asset', fileName: THEME, source: await shortTheme() });
      },
    },
  };
}

/** The script of the theme without comments and blanks. It replaces the copy of the public folder. */
async function shortTheme(): Promise<string> {
  const { code } = await minify(THEME, readFileSync(path.join(HERE, 'public', THEME), 'utf8'));
  return code;
}

function firstTags(bundle: Rolldown.OutputBundle): HtmlTagDescriptor[] {
  const holdsEarly = (file: Rolldown.OutputBundle[string]): boolean =>
    file.type === 'chunk' && file.moduleIds.includes(EARLY);
  const early = Object.values(bundle).find(holdsEarly);
  if (!early) throw new Error('The build has no early script.');
  // Browsers give asynchronous scripts a low priority; the data of the page depends on this one.
  const script = { type: 'module', async: true, crossorigin: true, fetchpriority: 'high' };
  return [{ tag: 'script', attrs: { ...script, src: `/${early.fileName}` }, injectTo: 'head-prepend' }];
}

/** Finds the chunks of a build by the sources that they contain. */
class Chunks {
  readonly #bundle: Rolldown.OutputBundle;
  readonly #shared: ReadonlySet<string>;

  constructor(bundle: Rolldown.OutputBundle) {
    this.#bundle = bundle;
    const entry = this.#all().find(({ isEntry, name }) => isEntry && name === 'index');
    if (!entry) throw new Error('The build has no entry.');
    this.#shared = new Set(this.#withImports([entry.fileName]));
  }

  /** The scripts that these sources need, without those that the HTML loads for every page. */
  of(sources: readonly string[]): string[] {
    const needed = this.#withImports(sources.map((source) => this.#holder(path.join(HERE, source))));
    return needed.filter((file) => !this.#shared.has(file));
  }

  #all(): Rolldown.OutputChunk[] {
    return Object.values(this.#bundle).filter((file) => file.type === 'chunk');
  }

  #holder(source: string): string {
    const own = this.#all().find(({ facadeModuleId }) => facadeModuleId === source);
    const chunk = own ?? this.#all().find(({ moduleIds }) => moduleIds.includes(source));
    if (!chunk) throw new Error(`No chunk of the build holds ${source}.`);
    return chunk.fileName;
  }

  #withImports(files: readonly string[]): string[] {
    const found = new Set<string>();
    const visit = (file: string): void => {
      if (found.has(file)) return;
      found.add(file);
      const chunk = this.#bundle[file];
      if (chunk?.type === 'chunk') chunk.imports.forEach(visit);
    };
    files.forEach(visit);
    return [...found];
  }
}

function listPages(
  chunks: Chunks,
  routes: readonly Route[],
  views: Awaited<ReturnType<typeof prerenderPages>>,
): ConsolePage[] {
  return routes.map(({ path: at, sources, areas }) => {
    const files = chunks.of(sources);
    const wordsIn = (folder: string, names: readonly string[]): string[] =>
      chunks
        .of([...new Set(names)].map((area) => `${folder}/${area}.ts`))
        .filter((file) => !files.includes(file));
    const words = {
      en: wordsIn(WORDS.en, areas),
      'zh-CN': wordsIn(WORDS['zh-CN'], ['areas', 'frame', ...areas]),
    };
    return { path: at, files, words, ...views.get(at) };
  });
}

const pathOf = ({ path: at }: Route): string => at;

function readRoutes(): Route[] {
  return routesIn(ROUTES.map((file) => readFileSync(path.join(HERE, file), 'utf8')).join('\n'));
}
