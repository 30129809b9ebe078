/** The alert rules name metrics that exist, and the operator finds each alert in the runbook. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const RULES = readFileSync('docs/operations/alerts.yaml', 'utf8');
const RUNBOOK = readFileSync('docs/operations.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `Gateway'))
  .join('\n');
const SOURCES = globSync(['control-plane/**/*.ts', 'data-plane/**/*.ts'], {
  exclude: ['**/node_modules/**', '**/*.test.ts'],
})
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

test('every alert has a runbook entry, and every entry an alert', () => {
  const alerts = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const entries = [...RUNBOOK.matchAll(/`(Gateway\w+)`(?=[^|]*\|)/g)].map(([, name]) => name);
  expect(new Set(entries)).toEqual(new Set(alerts));
  expect(entries).toHaveLength(alerts.length);
});

test('every metric of a rule is exported', () => {
  const metrics = [...RULES.matchAll(/\bgateway_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
  expect(metrics.filter((name) => !SOURCES.includes(`'${name}'`))).toEqual([]);
});
