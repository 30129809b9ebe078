/** Routes of the administrators' pages. Each page is its own chunk. */
import { createRoute, redirect } from '@tanstack/react-router';
import { listOf } from './components/search-parameters.ts';
import { validPaymentsSearch } from './pages/admin/payments/search.ts';
import { validPoolListSearch } from './pages/admin/pools/search.ts';
import { validAdminSearch } from './pages/admin/search.ts';
import { validTrafficSearch } from './pages/admin/traffic/search.ts';
import { lazyPage } from './parts.ts';
import { preloading, root, words } from './root-route.ts';

const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  loader: words('admin'),
  component: lazyPage(() => import('./pages/admin/admin-shell.tsx'), 'AdminShell'),
});
const adminHome = createRoute({
  getParentRoute: () => admin,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/admin/overview', replace: true });
  },
});
const adminOverview = createRoute({
  getParentRoute: () => admin,
  path: '/overview',
  staticData: { headFirst: true },
  loader: preloading(
    words('operation', 'overview', 'connect', 'usage'),
    () => import('./components/bar-plot.tsx'),
  ),
  component: lazyPage(() => import('./pages/admin/overview/overview-page.tsx'), 'OverviewPage'),
});
const adminUsers = createRoute({
  getParentRoute: () => admin,
  path: '/users',
  loader: words('people', 'wallet'),
  validateSearch: validAdminSearch,
  component: lazyPage(() => import('./pages/admin/users/users-page.tsx'), 'UsersPage'),
});
const adminUser = createRoute({
  getParentRoute: () => admin,
  path: '/users/$id',
  loader: words('people', 'wallet'),
  component: lazyPage(() => import('./pages/admin/users/user-page.tsx'), 'UserPage'),
});
const adminLedger = createRoute({
  getParentRoute: () => admin,
  path: '/ledger',
  loader: words('people', 'wallet'),
  validateSearch: validAdminSearch,
  component: lazyPage(() => import('./pages/admin/ledger/ledger-page.tsx'), 'LedgerPage'),
});
const adminAudit = createRoute({
  getParentRoute: () => admin,
  path: '/audit',
  loader: words('people'),
  validateSearch: validAdminSearch,
  component: lazyPage(() => import('./pages/admin/audit/audit-page.tsx'), 'AuditPage'),
});
const adminNodes = createRoute({
  getParentRoute: () => admin,
  path: '/nodes',
  loader: words('operation'),
  validateSearch: validTrafficSearch,
  component: lazyPage(() => import('./pages/admin/nodes/nodes-page.tsx'), 'NodesPage'),
});
const adminHealth = createRoute({
  getParentRoute: () => admin,
  path: '/health',
  loader: words('operation'),
  validateSearch: validTrafficSearch,
  component: lazyPage(() => import('./pages/admin/health/health-page.tsx'), 'HealthPage'),
});
const adminIncidents = createRoute({
  getParentRoute: () => admin,
  path: '/incidents',
  loader: words('status', 'incidents', 'pricing'),
  component: lazyPage(() => import('./pages/admin/incidents/incidents-page.tsx'), 'IncidentsPage'),
});
const adminGroups = createRoute({
  getParentRoute: () => admin,
  path: '/groups',
  loader: words('operation', 'pricing'),
  component: lazyPage(() => import('./pages/admin/groups/groups-page.tsx'), 'GroupsPage'),
});
const adminModels = createRoute({
  getParentRoute: () => admin,
  path: '/models',
  loader: words('operation', 'pricing'),
  validateSearch: listOf,
  component: lazyPage(() => import('./pages/admin/models/models-page.tsx'), 'ModelsPage'),
});
const adminUpstreams = createRoute({
  getParentRoute: () => admin,
  path: '/upstreams',
  loader: words('upstreams', 'pricing'),
  validateSearch: validTrafficSearch,
  component: lazyPage(() => import('./pages/admin/upstreams/upstreams-page.tsx'), 'UpstreamsPage'),
});
const adminUpstream = createRoute({
  getParentRoute: () => admin,
  path: '/upstreams/$id',
  loader: words('upstreams', 'pricing'),
  validateSearch: validTrafficSearch,
  component: lazyPage(() => import('./pages/admin/upstreams/upstreams-page.tsx'), 'UpstreamsPage'),
});
const adminPolicies = createRoute({
  getParentRoute: () => admin,
  path: '/policies',
  loader: words('people'),
  component: lazyPage(() => import('./pages/admin/policies/policies-page.tsx'), 'PoliciesPage'),
});
const adminIntelligence = createRoute({
  getParentRoute: () => admin,
  path: '/personal-intelligence',
  loader: words('people'),
  component: lazyPage(() => import('./pages/admin/intelligence/intelligence-page.tsx'), 'IntelligencePage'),
});
const adminPayments = createRoute({
  getParentRoute: () => admin,
  path: '/payments',
  loader: words('payments', 'wallet'),
  validateSearch: validPaymentsSearch,
  component: lazyPage(() => import('./pages/admin/payments/top-ups-page.tsx'), 'TopUpsPage'),
});
const adminTopUp = createRoute({
  getParentRoute: () => admin,
  path: '/payments/top-ups/$id',
  loader: words('payments', 'wallet'),
  component: lazyPage(() => import('./pages/admin/payments/top-up-page.tsx'), 'TopUpPage'),
});
const adminDeposits = createRoute({
  getParentRoute: () => admin,
  path: '/payments/deposits',
  loader: words('payments', 'wallet'),
  validateSearch: validPaymentsSearch,
  component: lazyPage(() => import('./pages/admin/payments/top-ups-page.tsx'), 'DepositsPage'),
});
const adminCorrections = createRoute({
  getParentRoute: () => admin,
  path: '/payments/corrections',
  loader: words('payments', 'wallet'),
  component: lazyPage(() => import('./pages/admin/payments/corrections-page.tsx'), 'CorrectionsPage'),
});
const adminCards = createRoute({
  getParentRoute: () => admin,
  path: '/payments/cards',
  loader: words('payments', 'cards'),
  component: lazyPage(() => import('./pages/admin/payments/cards-page.tsx'), 'CardsPage'),
});
const adminChains = createRoute({
  getParentRoute: () => admin,
  path: '/payments/blockchains',
  loader: words('payments', 'chains'),
  component: lazyPage(() => import('./pages/admin/payments/chains-page.tsx'), 'ChainsPage'),
});
const adminStorefront = createRoute({
  getParentRoute: () => admin,
  path: '/storefront',
  loader: words('pools', 'storefront'),
  component: lazyPage(() => import('./pages/admin/storefront/storefront-page.tsx'), 'StorefrontPage'),
});
const adminPools = createRoute({
  getParentRoute: () => admin,
  path: '/pools',
  validateSearch: validPoolListSearch,
  loader: words('pools', 'storefront'),
  component: lazyPage(() => import('./pages/admin/pools/pools-page.tsx'), 'PoolsPage'),
});
const adminPool = createRoute({
  getParentRoute: () => admin,
  path: '/pools/$id',
  loader: words('pools', 'storefront'),
  component: lazyPage(() => import('./pages/admin/pools/pool-page.tsx'), 'PoolPage'),
});
const adminPages = [
  adminHome,
  adminOverview,
  adminUsers,
  adminUser,
  adminLedger,
  adminAudit,
  adminPolicies,
  adminNodes,
  adminHealth,
  adminIncidents,
  adminGroups,
  adminModels,
  adminUpstreams,
  adminUpstream,
  adminIntelligence,
  adminPayments,
  adminTopUp,
  adminDeposits,
  adminCorrections,
  adminCards,
  adminChains,
  adminStorefront,
  adminPools,
  adminPool,
] as const;

/** All administrators' routes, under /admin. */
export const adminRoutes = admin.addChildren(adminPages);
