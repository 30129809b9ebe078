/** The name of a part of the gateway, as a link to its page. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface LinkedProps {
  to:
    | '/admin/nodes'
    | '/admin/ledger'
    | '/admin/payments/cards'
    | '/admin/payments/blockchains'
    | '/admin/personal-intelligence';
  children: ReactNode;
}

/** The link. */
export function Linked({ to, children }: LinkedProps) {
  return (
    <Link to={to} className="rounded-tag text-accent underline">
      {children}
    </Link>
  );
}
