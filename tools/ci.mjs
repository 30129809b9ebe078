/**
 * Runs CI of a push: the push tier, and the proof tier if the change touches code that only the proof tier
 * tests in full. The decision is explained in docs/decisions. `CI_BASE` names the commit before the change.
 */
import { spawnSync } from 'node:child_process';
import { runTiers } from './tiers.mjs';

/**
 * Code in which an error costs money or breaks clients, code whose tests need long, and the proofs
 * themselves.
 */
const PROVEN = [
  ...['control-plane/wallet', 'control-plane/usage', 'control-plane/budget', 'control-plane/pools'],
  ...['control-plane/migrations', 'data-plane/ledger', 'data-plane/permits', 'data-plane/dialects'],
  ...['data-plane/bill.ts', 'shared/money.ts', 'shared/usage-report.ts', 'shared/permits.ts'],
  ...['control-plane/payments', 'control-plane/intelligence', 'control-plane/local', 'control-plane/graphql'],
  ...['control-plane/playground', 'data-plane/config', 'data-plane/control', 'tools/sweep.mjs'],
  ...['console', '*Dockerfile'],
  // The fake control plane of the browser tests has this schema, and the scripts of docs/api.md call it.
  ...['control-plane/schema.graphql', 'docs/api.md'],
  ...['test/*.proof.test.ts', 'test/chaos', 'test/model', 'test/race', 'tools/mutation*'],
];

/** Commits of the last hours belong to one push, if CI_BASE does not say otherwise. */
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
 * The newest commit that is at least WORK_HOURS older than the last one: a push holds the commits after it.
 */
function commitBeforeThisWork() {
  const lastAt = Number(git('log', '-1', '--format=%ct'));
  return git('rev-list', '-1', `--before=${lastAt - WORK_HOURS * 3600}`, 'HEAD');
}

/** The output of a git command; undefined if it fails. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
