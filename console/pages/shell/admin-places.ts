/** The administrators' pages, for their navigation and the command palette. */
import type { LinkProps } from '@tanstack/react-router';
import {
  Banknote,
  BookOpenText,
  Boxes,
  Brain,
  FileText,
  Gauge,
  HeartPulse,
  Layers,
  type LucideIcon,
  Megaphone,
  Percent,
  Plug,
  ScrollText,
  Server,
  Store,
  Users,
} from 'lucide-react';

export interface AdminPlace {
  to: LinkProps['to'];
  icon: LucideIcon;
  name:
    | 'overview'
    | 'upstreams'
    | 'models'
    | 'nodes'
    | 'health'
    | 'incidents'
    | 'users'
    | 'ledger'
    | 'payments'
    | 'storefront'
    | 'pools'
    | 'groups'
    | 'audit'
    | 'policies'
    | 'intelligence';
}

export const OPERATIONS: readonly AdminPlace[] = [
  { to: '/admin/overview', icon: Gauge, name: 'overview' },
  { to: '/admin/upstreams', icon: Plug, name: 'upstreams' },
  { to: '/admin/models', icon: Layers, name: 'models' },
  { to: '/admin/nodes', icon: Server, name: 'nodes' },
  { to: '/admin/health', icon: HeartPulse, name: 'health' },
  { to: '/admin/incidents', icon: Megaphone, name: 'incidents' },
];
export const PEOPLE: readonly AdminPlace[] = [
  { to: '/admin/users', icon: Users, name: 'users' },
  { to: '/admin/ledger', icon: BookOpenText, name: 'ledger' },
  { to: '/admin/payments', icon: Banknote, name: 'payments' },
];
export const BUSINESS: readonly AdminPlace[] = [
  { to: '/admin/storefront', icon: Store, name: 'storefront' },
  { to: '/admin/pools', icon: Boxes, name: 'pools' },
  { to: '/admin/groups', icon: Percent, name: 'groups' },
  { to: '/admin/audit', icon: ScrollText, name: 'audit' },
  { to: '/admin/policies', icon: FileText, name: 'policies' },
  { to: '/admin/personal-intelligence', icon: Brain, name: 'intelligence' },
];
export const ADMIN_PLACES: readonly AdminPlace[] = [...OPERATIONS, ...PEOPLE, ...BUSINESS];
