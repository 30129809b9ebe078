/**
 * The console's addresses. Each page is a chunk of its own, and every filter of a page is a typed search
 * parameter.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { Outlet } from '@tanstack/react-router';
import { type Area, loadWords } from './i18n.ts';
import { validAdminSearch } from './pages/admin/search.ts';
import { validKeysSearch } from './pages/keys/search.ts';
import { validPlaygroundSearch } from './pages/playground/search.ts';
import { validPricingSearch } from './pages/pricing/search.ts';
import { validTokensSearch } from './pages/profile/search.ts';
import { NotFound, PageBroken } from './pages/shell/fallbacks.tsx';
import { validNext, validSignInSearch } from './pages/sign-in/next.ts';
import { validUsageSearch } from './pages/usage/search.ts';
import { validWalletSearch } from './pages/wallet/search.ts';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageBroken });

const words =
  (...areas: Area[]) =>
  () =>
    loadWords(areas);

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
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});
const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: validNext,
  loader: words('account'),
  component: lazyRouteComponent(() => import('./pages/register/register-page.tsx'), 'RegisterPage'),
});
const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  loader: words('account'),
  component: lazyRouteComponent(() => import('./pages/reset/forgot-page.tsx'), 'ForgotPage'),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  loader: words('account'),
  component: lazyRouteComponent(() => import('./pages/reset/reset-page.tsx'), 'ResetPage'),
});
const verify = createRoute({
  getParentRoute: () => root,
  path: '/verify',
  loader: words('account'),
  component: lazyRouteComponent(() => import('./pages/verify/verify-page.tsx'), 'VerifyPage'),
});
const claim = createRoute({
  getParentRoute: () => root,
  path: '/claim',
  loader: words('account'),
  component: lazyRouteComponent(() => import('./pages/claim/claim-page.tsx'), 'ClaimPage'),
});
const help = createRoute({
  getParentRoute: () => root,
  path: '/help',
  loader: words('help'),
  component: lazyRouteComponent(() => import('./pages/help/help-page.tsx'), 'HelpPage'),
});
const policy = createRoute({
  getParentRoute: () => root,
  path: '/privacy-policy',
  component: lazyRouteComponent(
    () => import('./pages/privacy-policy/privacy-policy-page.tsx'),
    'PrivacyPolicyPage',
  ),
});
const pricing = createRoute({
  getParentRoute: () => root,
  path: '/pricing',
  validateSearch: validPricingSearch,
  loader: words('spend'),
  component: lazyRouteComponent(() => import('./pages/pricing/pricing-page.tsx'), 'PricingPage'),
});
const model = createRoute({
  getParentRoute: () => root,
  path: '/pricing/$name',
  loader: words('spend', 'personal'),
  component: lazyRouteComponent(() => import('./pages/pricing/model-page.tsx'), 'ModelPage'),
});
const shell = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: lazyRouteComponent(() => import('./pages/shell/shell.tsx'), 'Shell'),
});
const playground = createRoute({
  getParentRoute: () => shell,
  path: '/playground',
  validateSearch: validPlaygroundSearch,
  loader: words('playground'),
  component: lazyRouteComponent(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
});
const personalIntelligence = createRoute({
  getParentRoute: () => shell,
  path: '/profile/personal-intelligence',
  loader: words('playground', 'profile'),
  component: lazyRouteComponent(
    () => import('./pages/personal-intelligence/personal-intelligence-page.tsx'),
    'PersonalIntelligencePage',
  ),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  validateSearch: validKeysSearch,
  loader: words('keys', 'spend'),
  component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
});
const wallet = createRoute({
  getParentRoute: () => shell,
  path: '/wallet',
  validateSearch: validWalletSearch,
  loader: words('spend'),
  component: lazyRouteComponent(() => import('./pages/wallet/wallet-page.tsx'), 'WalletPage'),
});
const usage = createRoute({
  getParentRoute: () => shell,
  path: '/usage',
  validateSearch: validUsageSearch,
  loader: words('spend'),
  component: lazyRouteComponent(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
});

const profilePages = [
  createRoute({
    getParentRoute: () => shell,
    path: '/profile',
    loader: words('profile'),
    component: lazyRouteComponent(() => import('./pages/profile/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/security',
    loader: words('profile'),
    component: lazyRouteComponent(() => import('./pages/profile/security-page.tsx'), 'SecurityPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/tokens',
    validateSearch: validTokensSearch,
    loader: words('profile'),
    component: lazyRouteComponent(() => import('./pages/profile/tokens-page.tsx'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/notifications',
    loader: words('profile'),
    component: lazyRouteComponent(
      () => import('./pages/profile/notifications-page.tsx'),
      'NotificationsPage',
    ),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/privacy',
    loader: words('profile'),
    component: lazyRouteComponent(() => import('./pages/profile/privacy-page.tsx'), 'PrivacyPage'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/profile/appearance',
    loader: words('profile', 'personal'),
    component: lazyRouteComponent(() => import('./pages/profile/appearance-page.tsx'), 'AppearancePage'),
  }),
] as const;
const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  loader: words('admin', 'spend'),
  component: lazyRouteComponent(() => import('./pages/admin/admin-shell.tsx'), 'AdminShell'),
});
const adminHome = createRoute({
  getParentRoute: () => admin,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/admin/users', replace: true });
  },
});
const adminUsers = createRoute({
  getParentRoute: () => admin,
  path: '/users',
  validateSearch: validAdminSearch,
  component: lazyRouteComponent(() => import('./pages/admin/users-page.tsx'), 'UsersPage'),
});
const adminLedger = createRoute({
  getParentRoute: () => admin,
  path: '/ledger',
  validateSearch: validAdminSearch,
  component: lazyRouteComponent(() => import('./pages/admin/ledger-page.tsx'), 'LedgerPage'),
});
const adminAudit = createRoute({
  getParentRoute: () => admin,
  path: '/audit',
  validateSearch: validAdminSearch,
  component: lazyRouteComponent(() => import('./pages/admin/audit-page.tsx'), 'AuditPage'),
});
const adminNodes = createRoute({
  getParentRoute: () => admin,
  path: '/nodes',
  component: lazyRouteComponent(() => import('./pages/admin/nodes-page.tsx'), 'NodesPage'),
});
const adminGroups = createRoute({
  getParentRoute: () => admin,
  path: '/groups',
  component: lazyRouteComponent(() => import('./pages/admin/groups-page.tsx'), 'GroupsPage'),
});
const adminModels = createRoute({
  getParentRoute: () => admin,
  path: '/models',
  component: lazyRouteComponent(() => import('./pages/admin/models-page.tsx'), 'ModelsPage'),
});
const adminUpstreams = createRoute({
  getParentRoute: () => admin,
  path: '/upstreams',
  component: lazyRouteComponent(() => import('./pages/admin/upstreams-page.tsx'), 'UpstreamsPage'),
});
const adminUpstream = createRoute({
  getParentRoute: () => admin,
  path: '/upstreams/$id',
  component: lazyRouteComponent(() => import('./pages/admin/upstreams-page.tsx'), 'UpstreamsPage'),
});
const adminPolicies = createRoute({
  getParentRoute: () => admin,
  path: '/policies',
  component: lazyRouteComponent(() => import('./pages/admin/policies-page.tsx'), 'PoliciesPage'),
});
const adminPages = [
  adminHome,
  adminUsers,
  adminLedger,
  adminAudit,
  adminPolicies,
  adminNodes,
  adminGroups,
  adminModels,
  adminUpstreams,
  adminUpstream,
] as const;

const tree = root.addChildren([
  home,
  signIn,
  register,
  forgot,
  reset,
  verify,
  claim,
  help,
  policy,
  pricing,
  model,
  shell.addChildren([playground, personalIntelligence, keys, wallet, usage, ...profilePages]),
  admin.addChildren(adminPages),
]);

/** The router over all pages; a link that is pointed at loads its page ahead. */
export const router = createRouter({ routeTree: tree, defaultPreload: 'intent', scrollRestoration: true });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
