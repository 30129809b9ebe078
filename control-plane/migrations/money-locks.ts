/** The locks that a migration takes before it changes tables of the ledger while traffic goes on. */

/**
 * All pending migrations run in one transaction, and traffic locks these tables in more than one order: a
 * report locks a lease and then accounts, a grant the reverse. A migration that built an index on one of them
 * and then waited for another would end in a deadlock, again and again. So the first migration that changes
 * one of them takes all locks, in the order of reports, before it does any work. While it holds the first
 * lock it waits for each further one only for a short time: it gives way, and is tried again, before
 * PostgreSQL ends a transaction of traffic, which it does after one second. An automatic vacuum is ended
 * between two attempts (`database/lock-retry.ts`). The references of new tables need the weaker lock of the
 * last two.
 */
export const LOCK_MONEY = `
  lock table wallet_lease in access exclusive mode;
  set local lock_timeout = '400ms';
  lock table ledger_account, ledger_entry, usage_entry in access exclusive mode;
  lock table wallet, node_journal in share row exclusive mode;
`;
