/** Alert rules and dashboards name metrics that exist, and the operator finds each alert in the runbook. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const RULES = readFileSync('docs/operations/alerts.yaml', 'utf8');
const RUNBOOK = readFileSync('docs/operations.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `Gateway'))
  // The first column names the alerts of an entry.
  .map((line) => line.split('|')[1] ?? '')
  .join('\n');
const DASHBOARDS = globSync('docs/operations/grafana/*.json').map((file) => readFileSync(file, 'utf8'));
const SOURCES = globSync(['control-plane/**/*.ts', 'data-plane/**/*.ts'], {
  exclude: ['**/node_modules/**', '**/*.test.ts'],
})
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** The expressions of a dashboard. */
function expressionsOf(dashboard: string): string {
  const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
}

test('every alert has a runbook entry, and every runbook entry has an alert', () => {
  const alerts = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const entries = [...RUNBOOK.matchAll(/`(Gateway\w+)`/g)].map(([, name]) => name);
  expect(new Set(entries)).toEqual(new Set(alerts));
  expect(entries).toHaveLength(alerts.length);
});

test('every metric of a rule or a dashboard is exported', () => {
  expect(DASHBOARDS.length).toBeGreaterThan(2);
  const texts = [RULES, ...DASHBOARDS.map(expressionsOf)].join('\n');
  const metrics = [...texts.matchAll(/\bgateway_\w+/g)].map(([name]) => name.replace(/_(bucket|count)$/, ''));
  expect(metrics.filter((name) => !SOURCES.includes(`'${name}'`))).toEqual([]);
});
