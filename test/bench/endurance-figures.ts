/** The figures of many requests: samples of memory, their growth, and the comparison of the charges. */
import { figureOf } from './requests/measure.ts';

/** Samples of one run. */
export const SAMPLES = 100;

/** Memory of all processes at one moment, in bytes. */
export interface Sample {
  /** Answers so far. */
  answered: number;
  /** Seconds since the first request. */
  seconds: number;
  node: number;
  nodeHeap: number;
  control: number;
  controlHeap: number;
  /** All processes of PostgreSQL; undefined where it cannot be read. */
  postgres: number | undefined;
  /** Charges that the control plane has not acknowledged. */
  backlog: number;
}

/** Counts and sums of the database after the run. Amounts are in micro-USD. */
export interface Charges {
  /** Rows of the usage log. */
  rows: number;
  charges: number;
  /** Sum of all charges. */
  charged: number;
  /** Sum of the ledger's accounts of revenue. */
  revenue: number;
  /** Sum of all accounts of the ledger, which must be 0. */
  balance: number;
}

/** Medians of one process in the second and the last fifth of the requests, in bytes. */
export interface Growth {
  process: string;
  second: number;
  last: number;
}

/** The result of a run. */
export interface Endurance {
  requests: number;
  growth: Growth[];
  charges: Charges;
  /** Messages of the requests that failed. They were sent again. */
  failures: string[];
  /** Differences between answers, charges and ledger. */
  faults: string[];
  samples: Sample[];
}

const MEGABYTE = 1_048_576;
const PROCESSES = { node: 'node', control: 'control plane', postgres: 'PostgreSQL' } as const;

/**
 * Compares the last fifth of the samples with the second one. In the first fifth code is still compiled and
 * caches are filled.
 */
export function growthOf(samples: readonly Sample[]): Growth[] {
  const fifth = Math.floor(samples.length / 5);
  const names = Object.keys(PROCESSES) as (keyof typeof PROCESSES)[];
  return names.flatMap((name) => {
    const values = samples.flatMap((sample) => sample[name] ?? []);
    if (values.length < samples.length) return [];
    const second = figureOf(values.slice(fifth, 2 * fifth)).median;
    return [{ process: PROCESSES[name], second, last: figureOf(values.slice(-fifth)).median }];
  });
}

/** Each difference as a sentence. A failed request may be charged: perhaps only its answer was lost. */
export function chargeFaults(
  { rows, charges, charged, revenue, balance }: Charges,
  { answers, failures }: { answers: number; failures: number },
): string[] {
  const faults: string[] = [];
  const counts = { 'rows of the usage log': rows, charges };
  for (const [name, count] of Object.entries(counts))
    if (count < answers || count > answers + failures)
      faults.push(`${answers} answers, but ${count} ${name}`);
  if (charged !== revenue) faults.push(`charges of ${charged} micro-USD, but revenue of ${revenue}`);
  if (balance !== 0) faults.push(`the accounts of the ledger sum up to ${balance} micro-USD`);
  return faults;
}

/** One line about a sample; the rate counts from the sample before. */
export function progressLine(before: Sample | undefined, sample: Sample | undefined): string {
  if (!sample) return '';
  const answers = sample.answered - (before?.answered ?? 0);
  const rate = answers / (sample.seconds - (before?.seconds ?? 0));
  return [
    `${sample.answered} answers, ${rate.toFixed(0)} a second`,
    `node ${megabytes(sample.node)} MB (heap ${megabytes(sample.nodeHeap)})`,
    `control plane ${megabytes(sample.control)} MB (heap ${megabytes(sample.controlHeap)})`,
    `PostgreSQL ${sample.postgres === undefined ? '–' : megabytes(sample.postgres)} MB`,
    `${sample.backlog} charges wait`,
  ].join('; ');
}

/** The growth as a Markdown table, then the charges and what is wrong. */
export function enduranceTable({ growth, charges, failures, faults }: Endurance): string {
  const lines = growth.map(({ process, second, last }) => {
    const percent = ((last / second - 1) * 100).toFixed(1);
    return `| ${process} | ${megabytes(second)} | ${megabytes(last)} | ${percent} |`;
  });
  const head = ['| memory | MB, second fifth | MB, last fifth | growth % |', '|---|---|---|---|'];
  const money = `${charges.charged / 1e6} USD charged, ${charges.revenue / 1e6} USD of revenue`;
  return [
    ...[...head, ...lines, ''],
    `${charges.rows} rows of the usage log, ${charges.charges} charges, ${money}`,
    `failed requests: ${failures.length}${failures.length > 0 ? `; the first one: ${failures[0]}` : ''}`,
    ...faults.map((fault) => `WRONG: ${fault}`),
  ].join('\n');
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(0);
}
