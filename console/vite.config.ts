/** Build of the console: static files that the control plane serves. */
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { delivery } from './delivery.ts';
import { plainDocuments } from './plain-documents.ts';

const CONTROL_PLANE = process.env['CONTROL_PLANE_URL'] ?? 'http://localhost:4000';

/** Modules that every page needs. One chunk compresses better than a dozen. */
const EVERYWHERE = new RegExp(
  [
    'node_modules/(?:react|react-dom|scheduler|urql|@urql|wonka|gql.tada|clsx)/',
    'node_modules/@tanstack/(?!(?:react-table|table-core)/)',
    'console/(?:client|graphql|session|routes|admin-routes|root-route|i18n|translation)\\.tsx?$',
    'console/pages/admin/(?:(?:payments|pools)/)?search\\.ts$',
    'console/pages/(?:connect|keys|playground|pools|pricing|profile|usage|wallet)/search\\.ts$',
    'console/messages/en/frame\\.ts$',
    'console/components/(?:button|continued|copy|field|mark|notice|page-head|page-title|store|tag)\\.tsx?$',
    'console/components/(?:theme|time|title-text)\\.tsx?$',
    'console/pages/(?:answer-fields|failure-words)\\.ts$',
    'console/pages/shell/(?:frame-context|not-found|page-broken|skip-link)\\.tsx?$',
    'lucide-react/dist/esm/icons/(?:chevron-down|circle-(?:alert|check|exclamation-point)|search)\\.',
  ].join('|'),
);

/**
 * Lists with filters, which most pages show, and icons that pages of administrators and of others show.
 * Without this chunk, the others would load the frame of administrators.
 */
const LISTS = new RegExp(
  [
    'console/components/(?:chart-series|duration|duration-text|gauge|leader-row|menu|menu-entries)\\.tsx?$',
    'console/components/(?:money|pager|search-field|shortcuts|state-word|toast|use-current-in-view)\\.tsx?$',
    'console/pages/profile/user-agent\\.ts$',
    'shared/money\\.ts$',
    'lucide-react/dist/esm/icons/(?:circle-(?:minus|x|dot)|eye|plus|ellipsis|pencil|refresh-cw)\\.',
    'lucide-react/dist/esm/icons/(?:arrow-left|arrow-up|hourglass|scale)\\.',
    'lucide-react/dist/esm/icons/(?:brain|gauge|sliders-horizontal|x)\\.',
  ].join('|'),
);

/** The table component and its library. */
const TABLES = /node_modules\/@tanstack\/(?:react-table|table-core)\/|console\/components\/data-table\.tsx$/;

/** Documents of keys and users that several pages share; without these groups each would be its own file. */
const KEYS = /console\/pages\/(?:keys\/(?:documents|key-state|week)|usage\/documents)\.ts$/;
const KEYS_OWN = /console\/pages\/keys\/(?:changes|use-key-switch)\.ts$/;
/** The bars of sums that several pages share. */
const BARS = /console\/(?:components\/bar-chart|pages\/usage\/(?:bar-text|summary))\.tsx?$/;
const USERS = /console\/pages\/admin\/users\/(?:documents|user-documents)\.ts$/;

/** Modules of the top bar that the console and the administrators' pages share. */
const BAR = new RegExp(
  [
    'console/pages/shell/(?:commands|late-signs|top-bar)\\.tsx$',
    'console/pages/proof/proof-host\\.tsx$',
    'lucide-react/dist/esm/icons/(?:radio|cloud-off|circle-user-round|log-out|boxes|file-text)\\.',
    'lucide-react/dist/esm/icons/chart-column\\.',
  ].join('|'),
);

/** The frame of signed-in pages, with its icons. */
const FRAME = new RegExp(
  [
    'console/pages/shell/(?:shell|navigation|account-menu|viewer|pool-endings)\\.tsx?$',
    'console/pages/pools/renew-lazy\\.tsx$',
    'lucide-react/dist/esm/icons/(?:key-round|menu)\\.',
    'lucide-react/dist/esm/icons/(?:cable|circle-question-mark|message-square|tag|wallet|shield-check)\\.',
  ].join('|'),
);

/** The export of a log. */
const EXPORT = new RegExp(
  [
    'console/pages/export-menu\\.tsx$',
    'console/components/download\\.ts$',
    'lucide-react/dist/esm/icons/download\\.',
  ].join('|'),
);

/** The frame of public pages, and the page for unknown addresses. */
const PUBLIC = new RegExp(
  [
    'console/pages/shell/(?:fallbacks|public-frame)\\.tsx$',
    'lucide-react/dist/esm/icons/(?:moon|sun)\\.',
  ].join('|'),
);

/** The frame of administrators' pages, and the texts that all of them load. */
const ADMIN = new RegExp(
  [
    'console/pages/admin/(?:admin-shell|paged-list|region|use-task)\\.tsx?$',
    'console/messages/en/admin\\.ts$',
    'lucide-react/dist/esm/icons/(?:banknote|book-open-text|layers|link-2|percent|plug|server|users)\\.',
  ].join('|'),
);

/** Modules that the pool pages and their administration share. */
const POOLS = new RegExp(
  [
    'console/pages/pools/(?:(?:period-|storefront-)?documents|pool-state|storefront-notice)\\.tsx?$',
    'console/messages/en/pools\\.ts$',
  ].join('|'),
);

/** The early data script. It runs before everything else, so it must not import other chunks. */
const EARLY = new RegExp(
  [
    'console/early\\.ts$',
    'console/pages/(?:admin/overview|connect|keys|pricing|shell|sign-in|usage)/first\\.ts$',
    'console/pages/usage/(?:span|times-text)\\.ts$',
  ].join('|'),
);

/** Small modules that a chat and its later parts share. */
const CHAT = new RegExp(
  [
    'console/pages/playground/(?:documents|models|settings|storage-text|thread)\\.ts$',
    'console/pages/idempotency\\.ts$',
  ].join('|'),
);

const GROUPS = [
  { name: 'early', test: EARLY, priority: 1 },
  { name: 'base', test: EVERYWHERE },
  { name: 'list', test: LISTS },
  { name: 'table', test: TABLES },
  { name: 'keys', test: KEYS },
  { name: 'keys-own', test: KEYS_OWN },
  { name: 'bars', test: BARS },
  { name: 'users', test: USERS },
  { name: 'bar', test: BAR },
  { name: 'frame', test: FRAME },
  { name: 'foot', test: /console\/(?:pages\/shell\/foot|components\/select-field)\.tsx$/ },
  { name: 'export', test: EXPORT },
  { name: 'learned', test: /console\/pages\/personal-intelligence\/learned-(?:documents\.ts|place\.tsx)$/ },
  { name: 'places', test: /lucide-react\/dist\/esm\/icons\/(?:megaphone|scroll-text|store)\./ },
  { name: 'icons', test: /lucide-react\/dist\/esm\/icons\/(?:eye-off|trash)\./ },
  { name: 'chat', test: CHAT },
  { name: 'public', test: PUBLIC },
  { name: 'admin', test: ADMIN },
  { name: 'pools', test: POOLS },
];

/** Keeps preload lists in the HTML only. Lists in the scripts would add 2 kB of file names to each page. */
function onlyInHtml(_file: string, files: string[], { hostType }: { hostType: 'html' | 'js' }): string[] {
  return hostType === 'html' ? files : [];
}

/** Replacements for packages that a library imports but the console never uses. */
const REPLACEMENTS = [
  // Only for cmdk: other libraries may use the same package.
  { source: /^@radix-ui\/react-dialog$/, importer: '/node_modules/cmdk/', file: 'no-second-dialog.ts' },
  // Numeric scales import interpolation of colours and dates.
  { source: /^d3-(?:interpolate|format)$/, importer: '/node_modules/d3-scale/', file: 'no-colours.ts' },
  // Stream graphs and percentage stacks need these; the console's bars do not.
  { source: /util\/stack(?:Order|Offset)/, importer: '/@visx/shape/esm/shapes/', file: 'plain-stacks.ts' },
  // Only for streamdown, which merges its own classes with those that it is given.
  { source: /^tailwind-merge$/, importer: '/node_modules/streamdown/', file: 'plain-classes.ts' },
  // Extensions of remark-gfm can write Markdown, too.
  {
    source: /^mdast-util-to-markdown$/,
    importer: '/node_modules/mdast-util-gfm-',
    file: 'no-markdown-writer.ts',
  },
];
/** Pages that the build renders request nothing, find nothing in the browser's storage, and have no tab. */
const WITHOUT_BROWSER = [
  { source: /\/early\.ts$/, importer: '/console/', file: 'prerender/no-requests.ts' },
  { source: /\/device-storage\.ts$/, importer: '/console/', file: 'prerender/no-storage.ts' },
  { source: /\/page-title\.ts$/, importer: '/console/', file: 'prerender/noted-title.ts' },
];

function replacements(all: typeof REPLACEMENTS): Plugin {
  const known = all.map(({ file, ...where }) => ({
    ...where,
    path: fileURLToPath(new URL(file, import.meta.url)),
  }));
  return {
    name: 'console-replacements',
    enforce: 'pre',
    resolveId: (id, from) =>
      known.find(({ source, importer }) => source.test(id) && from?.includes(importer))?.path,
  };
}

/** Options of the bundle that renders pages during the build. It runs in Node, so nothing is split off. */
const SSR_BUILD: UserConfig = { build: { copyPublicDir: false, minify: false }, ssr: { noExternal: true } };

const BROWSER_BUILD: UserConfig = {
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // A data: URL would need exceptions in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false, resolveDependencies: onlyInHtml },
    target: 'es2023',
    rolldownOptions: {
      output: { codeSplitting: { groups: GROUPS } },
      // Neither the console nor its libraries depend on a getter with a side effect. Without reads whose
      // value nobody uses, every page keeps its limit of scripts.
      treeshake: { propertyReadSideEffects: false },
    },
  },
};

export default defineConfig(({ isSsrBuild = false }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [
    react(),
    plainDocuments(),
    replacements(isSsrBuild ? [...REPLACEMENTS, ...WITHOUT_BROWSER] : REPLACEMENTS),
    ...(isSsrBuild ? [] : [tailwindcss(), delivery()]),
  ],
  // React has included this hook since version 18.
  resolve: {
    alias: [
      { find: /^use-sync-external-store\/shim$/, replacement: 'react' },
      // A third of the chat's scripts; replies are rendered without it.
      { find: /^rehype-raw$/, replacement: fileURLToPath(new URL('no-raw-html.ts', import.meta.url)) },
      // Two names for the same function.
      { find: /^classnames$/, replacement: 'clsx' },
    ],
  },
  ...(isSsrBuild ? SSR_BUILD : BROWSER_BUILD),
  server: { proxy: { '/graphql': { target: CONTROL_PLANE, ws: true } } },
}));
