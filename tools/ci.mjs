/**
 * Runs CI of a push: the push tier, and the proof tier if the change touches code that only the proof tier
 * tests in full. The decision is explained in docs/decisions. `CI_BASE` names the commit before the change.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTiers } from './tiers.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/**
 * Code in which an error costs money or breaks clients, code whose tests need long, and the proof tests
 * themselves. Paths from the root of the repository.
 */
const PROVEN = [
  ...['control-plane/wallet', 'control-plane/usage', 'control-plane/budget', 'control-plane/pools'],
  ...['control-plane/migrations', 'data-plane/ledger', 'data-plane/permits', 'data-plane/dialects'],
  ...['data-plane/bill.ts', 'shared/money.ts', 'shared/usage-report.ts', 'shared/permits.ts'],
  ...['shared/lease-api.ts', 'shared/node-api.ts'],
  ...['data-plane/run', 'data-plane/workers'],
  ...['control-plane/payments', 'control-plane/intelligence', 'control-plane/local', 'control-plane/graphql'],
  ...['control-plane/playground', 'data-plane/config', 'data-plane/control', 'tools/sweep.mjs'],
  ...['console', '*Dockerfile'],
  // Browser tests use this schema in their fake control plane. Proof tests run the texts of these documents.
  ...['control-plane/schema.graphql', 'docs/api.md', 'docs/clients.md'],
  ...['data-plane/admission', 'data-plane/call', 'data-plane/exchange', 'data-plane/endpoints'],
  ...['data-plane/upstreams', 'data-plane/realtime', 'control-plane/upstreams', 'shared/timestamps.ts'],
  ...['control-plane/nodes', 'control-plane/catalog', 'control-plane/database', 'control-plane/configuration'],
  ...['control-plane/mail', 'control-plane/accounts', 'control-plane/audit', 'control-plane/downloads'],
  ...['control-plane/snippets', 'control-plane/webhooks', 'control-plane/status', 'control-plane/keys'],
  ...['*.proof.test.ts', 'test/chaos', 'test/model', 'test/race', 'tools/mutation*'],
];

/** Without CI_BASE, the commits of this many hours before the last one count as the push. */
const WORK_HOURS = 4;

const reason = reasonForProof();
console.log(reason ? `Proof tier: ${reason}` : 'Push tier only: nothing changed that the proof tier tests.');
process.exitCode = await runTiers(reason ? ['push', 'proof'] : ['push'], process.argv.slice(2));

/** Why the proof tier runs; undefined if it does not. */
function reasonForProof() {
  const base = process.env.CI_BASE || commitBeforeThisWork();
  if (!base) return 'this clone has no earlier commit to compare with.';
  const changed = git('diff', '--name-only', base, 'HEAD', '--', ...PROVEN);
  if (changed === undefined) return `${base} is not a commit of this clone.`;
  const [first] = changed.split('\n');
  return first === '' ? undefined : `${first} changed since ${base}.`;
}

/**
 * The newest commit that is at least WORK_HOURS older than the last one. The commits after it are the push.
 */
function commitBeforeThisWork() {
  const lastAt = Number(git('log', '-1', '--format=%ct'));
  return git('rev-list', '-1', `--before=${lastAt - WORK_HOURS * 3600}`, 'HEAD');
}

/** The output of a git command; undefined if it fails. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
