/** Evaluates the alert rules over series of metrics with promtool, which comes with Prometheus. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ALERT_CASES } from './cases.ts';
import type { AlertCase } from './cases.ts';

const RULES = path.resolve('docs/operations/alerts.yaml');
const isInstalled = spawnSync('promtool', ['--version']).status === 0;

interface Rule {
  alert: string;
  labels: { severity: string };
  annotations: { summary: string };
}

const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = new Map(groups.flatMap((group) => group.rules).map((rule) => [rule.alert, rule]));

/** The case in the format of `promtool test rules`. */
function testOf({ alert, series, quiet, fires, labels = {} }: AlertCase): object {
  const rule = rules.get(alert);
  const summary = (rule?.annotations.summary ?? '').replaceAll(
    /\{\{ \$labels\.(\w+) \}\}/g,
    (_, name: string) => labels[name] ?? '',
  );
  const expected = {
    exp_labels: { severity: rule?.labels.severity, ...labels },
    exp_annotations: { summary },
  };
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      ...quiet.map((minute) => ({ eval_time: `${minute}m`, alertname: alert, exp_alerts: [] })),
      ...(fires === undefined ? [] : [{ eval_time: `${fires}m`, alertname: alert, exp_alerts: [expected] }]),
    ],
  };
}

/** The complaints of promtool about a case; empty if the case holds. */
async function complaints(one: AlertCase): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gateway-alerts-'));
  const file = path.join(folder, 'test.yaml');
  const evaluated = { rule_files: [RULES], evaluation_interval: `${one.every ?? 1}m` };
  writeFileSync(file, stringify({ ...evaluated, tests: [testOf(one)] }));
  try {
    await promisify(execFile)('promtool', ['test', 'rules', file]);
    return '';
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}\n${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('every alert rule has a case in which it fires', () => {
  const firing = new Set(ALERT_CASES.flatMap(({ alert, fires }) => (fires === undefined ? [] : [alert])));
  expect([...rules.keys()].filter((alert) => !firing.has(alert))).toEqual([]);
  expect([...firing].filter((alert) => !rules.has(alert))).toEqual([]);
});

describe.skipIf(!isInstalled)('with promtool on the PATH, the alert rule', () => {
  it.each(
    ALERT_CASES.map(
      (one) => [`${one.alert} ${one.fires === undefined ? 'stays quiet' : 'fires'}`, one] as const,
    ),
  )('%s at its times', async (_, one) => {
    expect(await complaints(one)).toBe('');
  });
});
