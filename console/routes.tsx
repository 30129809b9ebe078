/** Routes of the console. Each page is its own chunk; every filter of a page is a typed search parameter. */
import { createRoute, createRouter, redirect, type RouterHistory } from '@tanstack/react-router';
import { adminRoutes } from './admin-routes.tsx';
import { validCompareSearch } from './pages/compare/search.ts';
import { validQuickstartSearch } from './pages/connect/search.ts';
import { validKeysSearch } from './pages/keys/search.ts';
import { validItemsSearch } from './pages/personal-intelligence/search.ts';
import { validPlaygroundSearch } from './pages/playground/search.ts';
import { validPoolSearch, validPoolsSearch } from './pages/pools/search.ts';
import { validModelSearch, validPricingSearch } from './pages/pricing/search.ts';
import { validPolicySearch } from './pages/privacy-policy/search.ts';
import { validSecuritySearch, validTokensSearch } from './pages/profile/search.ts';
import { validNext, validSignInSearch } from './pages/sign-in/next.ts';
import { validUsageSearch } from './pages/usage/search.ts';
import { validWalletSearch } from './pages/wallet/search.ts';
import { lazyPage } from './parts.ts';
import { PageBroken } from './pages/shell/page-broken.tsx';
import { preloading, root, words } from './root-route.ts';

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/keys', replace: true });
  },
});
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: validSignInSearch,
  loader: words('account'),
  component: lazyPage(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});
const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: validNext,
  loader: words('account'),
  component: lazyPage(() => import('./pages/register/register-page.tsx'), 'RegisterPage'),
});
const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  loader: words('account'),
  component: lazyPage(() => import('./pages/reset/forgot-page.tsx'), 'ForgotPage'),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  loader: words('account'),
  component: lazyPage(() => import('./pages/reset/reset-page.tsx'), 'ResetPage'),
});
const verify = createRoute({
  getParentRoute: () => root,
  path: '/verify',
  loader: words('account'),
  component: lazyPage(() => import('./pages/verify/verify-page.tsx'), 'VerifyPage'),
});
const claim = createRoute({
  getParentRoute: () => root,
  path: '/claim',
  loader: words('account'),
  component: lazyPage(() => import('./pages/claim/claim-page.tsx'), 'ClaimPage'),
});
const activate = createRoute({
  getParentRoute: () => root,
  path: '/activate',
  loader: words('account'),
  component: lazyPage(() => import('./pages/claim/claim-page.tsx'), 'ActivatePage'),
});
const help = createRoute({
  getParentRoute: () => root,
  path: '/help',
  loader: words('help'),
  component: lazyPage(() => import('./pages/help/help-page.tsx'), 'HelpPage'),
});
const conformance = createRoute({
  getParentRoute: () => root,
  path: '/docs/conformance',
  loader: words('conformance'),
  component: lazyPage(() => import('./pages/conformance/conformance-page.tsx'), 'ConformancePage'),
});
const policy = createRoute({
  getParentRoute: () => root,
  path: '/privacy-policy',
  validateSearch: validPolicySearch,
  loader: words('privacy'),
  component: lazyPage(() => import('./pages/privacy-policy/privacy-policy-page.tsx'), 'PrivacyPolicyPage'),
});
const pricing = createRoute({
  getParentRoute: () => root,
  path: '/pricing',
  validateSearch: validPricingSearch,
  loader: words('pricing'),
  component: lazyPage(() => import('./pages/pricing/pricing-page.tsx'), 'PricingPage'),
});
const model = createRoute({
  getParentRoute: () => root,
  path: '/pricing/$name',
  validateSearch: validModelSearch,
  loader: words('pricing', 'personal', 'connect', 'status'),
  component: lazyPage(() => import('./pages/pricing/model-page.tsx'), 'ModelPage'),
});
const compare = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  validateSearch: validCompareSearch,
  loader: words('compare', 'pricing', 'personal', 'status'),
  component: lazyPage(() => import('./pages/compare/compare-page.tsx'), 'ComparePage'),
});
const status = createRoute({
  getParentRoute: () => root,
  path: '/status',
  loader: words('status', 'pricing'),
  component: lazyPage(() => import('./pages/status/status-page.tsx'), 'StatusPage'),
});
const shell = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: lazyPage(() => import('./pages/shell/shell.tsx'), 'Shell'),
});
const playground = createRoute({
  getParentRoute: () => shell,
  path: '/playground',
  validateSearch: validPlaygroundSearch,
  loader: words('playground'),
  component: lazyPage(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
});
const personalIntelligence = createRoute({
  getParentRoute: () => shell,
  path: '/profile/personal-intelligence',
  validateSearch: validItemsSearch,
  loader: words('playground', 'profile'),
  component: lazyPage(
    () => import('./pages/personal-intelligence/personal-intelligence-page.tsx'),
    'PersonalIntelligencePage',
  ),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  staticData: { headFirst: true },
  validateSearch: validKeysSearch,
  loader: words('keys'),
  component: lazyPage(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
});
const key = createRoute({
  getParentRoute: () => shell,
  path: '/keys/$id',
  loader: preloading(words('keys', 'usage'), () => import('./components/bar-plot.tsx')),
  component: lazyPage(() => import('./pages/keys/key-page.tsx'), 'KeyPage'),
});
const quickstart = createRoute({
  getParentRoute: () => shell,
  path: '/quickstart',
  staticData: { headFirst: true },
  validateSearch: validQuickstartSearch,
  loader: words('keys', 'connect'),
  component: lazyPage(() => import('./pages/connect/quickstart-page.tsx'), 'QuickstartPage'),
});
const wallet = createRoute({
  getParentRoute: () => shell,
  path: '/wallet',
  validateSearch: validWalletSearch,
  loader: words('wallet'),
  component: lazyPage(() => import('./pages/wallet/wallet-page.tsx'), 'WalletPage'),
});
const pools = createRoute({
  getParentRoute: () => shell,
  path: '/pools',
  validateSearch: validPoolsSearch,
  loader: words('pools', 'purchase'),
  component: lazyPage(() => import('./pages/pools/pools-page.tsx'), 'PoolsPage'),
});
const pool = createRoute({
  getParentRoute: () => shell,
  path: '/pools/$id',
  validateSearch: validPoolSearch,
  loader: words('pools'),
  component: lazyPage(() => import('./pages/pools/pool-page.tsx'), 'PoolPage'),
});
const usage = createRoute({
  getParentRoute: () => shell,
  path: '/usage',
  staticData: { headFirst: true },
  validateSearch: validUsageSearch,
  loader: preloading(words('usage'), () => import('./components/bar-plot.tsx')),
  component: lazyPage(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
});

const profilePages = [
  createRoute({
    getParentRoute: () => shell,
    path: '/profile',
    loader: words('profile'),
    component: lazyPage(() => import('./pages/profile/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/security',
    validateSearch: validSecuritySearch,
    loader: words('profile'),
    component: lazyPage(() => import('./pages/profile/security-page.tsx'), 'SecurityPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/tokens',
    validateSearch: validTokensSearch,
    loader: words('profile'),
    component: lazyPage(() => import('./pages/profile/tokens-page.tsx'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/webhooks',
    loader: words('profile', 'webhooks'),
    component: lazyPage(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/notifications',
    loader: words('profile'),
    component: lazyPage(() => import('./pages/profile/notifications-page.tsx'), 'NotificationsPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/privacy',
    loader: words('profile'),
    component: lazyPage(() => import('./pages/profile/privacy-page.tsx'), 'PrivacyPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/appearance',
    loader: words('profile', 'personal'),
    component: lazyPage(() => import('./pages/profile/appearance-page.tsx'), 'AppearancePage'),
  }),
] as const;
const tree = root.addChildren([
  home,
  signIn,
  register,
  forgot,
  reset,
  verify,
  claim,
  activate,
  help,
  conformance,
  policy,
  pricing,
  model,
  compare,
  status,
  shell.addChildren([
    playground,
    personalIntelligence,
    keys,
    key,
    quickstart,
    wallet,
    pools,
    pool,
    usage,
    ...profilePages,
  ]),
  adminRoutes,
]);

/**
 * A router of the console; `history` is the browser's if left out. Hovering or focusing a link preloads its
 * page. An error stays inside the frame of its page.
 */
export function consoleRouter(history?: RouterHistory) {
  return createRouter({
    routeTree: tree,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: PageBroken,
    ...(history && { history }),
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof consoleRouter>;
  }
}
