/** How the console is built: static files that the control plane serves. */
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { delivery } from './delivery.ts';

const CONTROL_PLANE = process.env['CONTROL_PLANE_URL'] ?? 'http://localhost:4000';

/** What every page needs: one chunk packs tighter than a dozen. */
const EVERYWHERE = new RegExp(
  [
    'node_modules/(?:react|react-dom|scheduler|urql|@urql|wonka|gql.tada|i18next|clsx)/',
    'node_modules/@tanstack/(?!(?:react-table|table-core)/)',
    'console/(?:client|graphql|session|routes|admin-routes|root-route|i18n|translation)\\.tsx?$',
    'console/pages/(?:admin|admin/pool|keys|playground|pools|pricing|profile|usage|wallet)[/-]search\\.ts$',
    'console/messages/en/frame\\.ts$',
    'console/components/(?:button|copy|field|mark|notice|page-head|store|tag|theme|time)\\.tsx?$',
    'console/pages/(?:answer-fields|failure-words)\\.ts$',
    'console/pages/shell/(?:frame-context|not-found|page-broken|skip-link)\\.tsx?$',
    'lucide-react/dist/esm/icons/(?:chevron-down|circle-(?:alert|check|exclamation-point)|search)\\.',
  ].join('|'),
);

/** What most pages of the console show: lists with filters. */
const LISTS = new RegExp(
  [
    'console/components/(?:chart-series|leader-row|menu|money|pager|search-field)\\.tsx?$',
    'console/components/(?:shortcuts|state-word|toast|use-current-in-view)\\.tsx?$',
    'console/pages/profile/user-agent\\.ts$',
    'shared/money\\.ts$',
    'lucide-react/dist/esm/icons/(?:circle-(?:minus|x|dot)|eye|plus|ellipsis|pencil|refresh-cw)\\.',
    'lucide-react/dist/esm/icons/(?:arrow-left|store|hourglass|link-2|scale|scroll-text)\\.',
    'lucide-react/dist/esm/icons/sliders-horizontal\\.',
  ].join('|'),
);

/** Tables, for the pages that have one. */
const TABLES = /node_modules\/@tanstack\/(?:react-table|table-core)\/|console\/components\/data-table\.tsx$/;

/** What more than one page asks of keys and of users: alone, each would be a file. */
const KEYS = /console\/pages\/keys\/(?:documents|key-state)\.ts$/;
const KEYS_OWN = /console\/pages\/keys\/(?:changes|use-key-switch|week)\.ts$/;
const USERS = /console\/pages\/admin\/(?:documents|user-documents)\.ts$/;

/** What the bars of both frames, of the console and of administrators, have in common. */
const BAR = new RegExp(
  [
    'console/pages/shell/(?:commands|top-bar)\\.tsx$',
    'console/pages/proof/proof-host\\.tsx$',
    'lucide-react/dist/esm/icons/(?:radio|cloud-off|circle-user-round|log-out|boxes|file-text)\\.',
    'lucide-react/dist/esm/icons/chart-column\\.',
  ].join('|'),
);

/** The frame of every signed-in page, with its icons: alone, each of them would be a file. */
const FRAME = new RegExp(
  [
    'console/pages/shell/(?:shell|navigation|account-menu|viewer|pool-endings)\\.tsx?$',
    'lucide-react/dist/esm/icons/(?:key-round|menu)\\.',
    'lucide-react/dist/esm/icons/(?:circle-question-mark|message-square|tag|wallet|shield-check)\\.',
  ].join('|'),
);

/** The frame of public pages, and the page that is none. */
const PUBLIC = new RegExp(
  [
    'console/pages/shell/(?:fallbacks|public-frame)\\.tsx$',
    'lucide-react/dist/esm/icons/(?:moon|sun)\\.',
  ].join('|'),
);

/** The frame of administrators' pages, and the words that all of them load. */
const ADMIN = new RegExp(
  [
    'console/pages/admin/(?:admin-shell|region)\\.tsx$',
    'console/messages/en/admin\\.ts$',
    'lucide-react/dist/esm/icons/(?:book-open-text|layers|percent|plug|server|users)\\.',
  ].join('|'),
);

/** What both the pages of pools and their administration show. */
const POOLS = new RegExp(
  [
    'console/pages/pools/(?:(?:period-|storefront-)?documents|pool-state|storefront-notice)\\.tsx?$',
    'console/messages/en/pools\\.ts$',
  ].join('|'),
);

/** What runs before everything else, so it may bring along nothing. */
const EARLY = /console\/(?:early|pages\/(?:pricing|shell)\/first)\.ts$/;

const GROUPS = [
  { name: 'early', test: EARLY, priority: 1 },
  { name: 'base', test: EVERYWHERE },
  { name: 'list', test: LISTS },
  { name: 'table', test: TABLES },
  { name: 'keys', test: KEYS },
  { name: 'keys-own', test: KEYS_OWN },
  { name: 'users', test: USERS },
  { name: 'bar', test: BAR },
  { name: 'frame', test: FRAME },
  { name: 'foot', test: /console\/(?:pages\/shell\/foot|components\/select-field)\.tsx$/ },
  { name: 'public', test: PUBLIC },
  { name: 'admin', test: ADMIN },
  { name: 'pools', test: POOLS },
];

/** HTML names what its page needs; with those of all other pages, each page would load 2 kB of names. */
function inHtmlAlone(_file: string, files: string[], { hostType }: { hostType: 'html' | 'js' }): string[] {
  return hostType === 'html' ? files : [];
}

/** What stands for a package where another one imports it and nothing of ours needs it. */
const STANDS = [
  // The palette's library imports a dialog that only it may not have: the explorer's is the same package.
  { source: /^@radix-ui\/react-dialog$/, importer: '/node_modules/cmdk/', stand: 'no-second-dialog.ts' },
  // Scales of numbers alone bring along the mixing of colours and dates.
  { source: /^d3-(?:interpolate|format)$/, importer: '/node_modules/d3-scale/', stand: 'no-colours.ts' },
  // Streams and shares of a whole are stacked in other ways than the bars of ours.
  { source: /util\/stack(?:Order|Offset)/, importer: '/@visx/shape/esm/shapes/', stand: 'plain-stacks.ts' },
].map(({ stand, ...where }) => ({ ...where, stand: fileURLToPath(new URL(stand, import.meta.url)) }));

function standIns(): Plugin {
  return {
    name: 'console-stand-ins',
    enforce: 'pre',
    resolveId: (asked, from) =>
      STANDS.find(({ source, importer }) => source.test(asked) && from?.includes(importer))?.stand,
  };
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), tailwindcss(), delivery(), standIns()],
  // React has had it since 18: what still brings it along need not.
  resolve: {
    alias: [
      { find: /^use-sync-external-store\/shim$/, replacement: 'react' },
      // A third of a chat's scripts; replies are shown without the step that it is for.
      { find: /^rehype-raw$/, replacement: fileURLToPath(new URL('no-raw-html.ts', import.meta.url)) },
      // The same function twice.
      { find: /^classnames$/, replacement: 'clsx' },
    ],
  },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // A data: URL would need exceptions in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false, resolveDependencies: inHtmlAlone },
    target: 'es2023',
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
  server: { proxy: { '/graphql': { target: CONTROL_PLANE, ws: true } } },
});
