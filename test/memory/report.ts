/** The tables of `npm run memory`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import type { PersonalKind } from '../../control-plane/intelligence/switch.entity.ts';
import type { Recall } from './retrieval.ts';
import type { Score } from './score.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '.bench');

/** Everything that one run measured. */
export interface Report {
  reader: string;
  scores: Record<'en' | 'zh', Score>;
  /** Number of chats with one switch on, and of items that appeared although their switch was off. */
  isolation: { chats: number; leaked: number };
  /** Number of messages with a block of notes, and of blocks above their budget; the largest block. */
  budget: { blocks: number; above: number; largest: number };
  /** Number of turns whose answer repeated the block, and of items that were wrongly learned from it. */
  relearned: { turns: number; items: number };
  recall: Recall | null;
  time: { chats: number; p50: number; p95: number };
}

/** Writes the report as JSON to `.bench/memory.json`, and the tables of a whole run to `.bench/memory.md`. */
export function writeReport(report: Partial<Report>): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'memory.json'), JSON.stringify(report, null, 2));
  if (isComplete(report)) writeFileSync(join(FOLDER, 'memory.md'), tablesOf(report));
}

function isComplete(report: Partial<Report>): report is Report {
  const parts: (keyof Report)[] = ['scores', 'isolation', 'budget', 'relearned', 'recall', 'time'];
  return parts.every((part) => report[part] !== undefined);
}

/** The share of `part` in `whole`, from 0 to 1; 1 if `whole` is 0. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}

function tablesOf(report: Report): string {
  const { scores, isolation, budget, relearned, recall, time } = report;
  const rows = (['en', 'zh'] as const).flatMap((language) =>
    PERSONAL_KINDS.map((kind) => rowOf(language, kind, scores[language])),
  );
  const sum = (count: (score: Score) => number): number => count(scores.en) + count(scores.zh);
  const broken = sum(({ emptyBroken }) => emptyBroken);
  const empty = sum((each) => each.empty);
  return [
    `Read by ${report.reader}.`,
    '',
    '| language | kind | dialogues | learned | precision | expected | recall | newest wins |',
    '|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
    '| trap | set | sprung |',
    '|---|---|---|',
    ...trapRows(scores),
    '',
    '| measure | value |',
    '|---|---|',
    ...Object.entries({
      'chats with nothing to learn, from which something was learned': `${broken} of ${empty}`,
      'items without a message of the user as evidence': sum((each) => each.withoutEvidence),
      'items with a secret or a special category': sum((each) => each.sensitive),
      'items of another kind while one switch is on': `${isolation.leaked} in ${isolation.chats} chats`,
      'blocks above their budget; largest': `${budget.above} of ${budget.blocks}; ${budget.largest} tokens`,
      'items learned from repeated blocks': `${relearned.items} in ${relearned.turns} turns`,
      'LoCoMo: R@1 / R@3 / R@5': recallOf(recall),
      [`ms to choose with ${time.chats} chats, p50 / p95`]: `${time.p50.toFixed(1)} / ${time.p95.toFixed(1)}`,
    }).map(([measure, value]) => `| ${measure} | ${value} |`),
    '',
  ].join('\n');
}

function recallOf(recall: Recall | null): string {
  if (!recall) return 'the data is not there';
  const values = ([1, 3, 5] as const).map((limit) => recall.at[limit].toFixed(3));
  return `${values.join(' / ')} of ${recall.questions} questions`;
}

function rowOf(language: string, kind: PersonalKind, { kinds }: Score): string {
  const { dialogues, learned, right, expected, found, replaced, newest } = kinds[kind];
  const percent = (part: number, whole: number): string => `${(share(part, whole) * 100).toFixed(1)} %`;
  const cells = [
    ...[language, kind, dialogues, learned, percent(right, learned), expected, percent(found, expected)],
    replaced === 0 ? '–' : `${newest} of ${replaced}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function trapRows({ en, zh }: Report['scores']): string[] {
  const names = [...new Set([...Object.keys(en.traps), ...Object.keys(zh.traps)])].toSorted();
  const sum = (name: string, part: 'set' | 'sprung'): number =>
    (en.traps[name]?.[part] ?? 0) + (zh.traps[name]?.[part] ?? 0);
  return names.map((name) => `| ${name} | ${sum(name, 'set')} | ${sum(name, 'sprung')} |`);
}
