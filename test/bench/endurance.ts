/**
 * Measures whether memory grows while one node answers many requests: short whole answers in closed loops,
 * all wallets in turn, without a forced collection of garbage. Then compares the charges with the answers.
 */
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { SAMPLES, chargeFaults, growthOf, progressLine } from './endurance-figures.ts';
import type { Charges, Endurance, Sample } from './endurance-figures.ts';
import { runLongLoad } from './requests/load.ts';
import type { EndurancePlan } from './requests/options.ts';
import { timesOf, treeBytes } from './requests/processes.ts';
import { workloads } from './requests/workloads.ts';
import { metric, settled } from './wallet.ts';

/** The programs that the measurement uses. */
interface EnduranceSetting {
  databaseUrl: string;
  postgresPid: number;
  /** Address of the upstream. */
  origin: string;
  /** Options of Node.js for both planes, which then report their memory. */
  execArgv: string[];
}

const AT_ONCE = 32;
const WALLETS = 8;
/** Enough for 30 million requests of each wallet. */
const MUCH_MONEY = '1000000';
/** One line for this number of samples: 20 lines in all. */
const SAMPLES_PER_LINE = 5;
const SETTLED_WITHIN_MS = 600_000;

/** Starts a house of one node on the database, and measures. Prints the progress. */
export async function measureEndurance(setting: EnduranceSetting, plan: EndurancePlan): Promise<Endurance> {
  const { databaseUrl, execArgv, origin } = setting;
  const house = await startHouse({ databaseUrl, nodeExecArgv: execArgv, controlExecArgv: execArgv });
  try {
    const whole = workloads().find(({ name }) => name === 'whole');
    if (!whole) throw new Error('There is no workload of whole answers.');
    await addUpstream(house, { baseUrl: `${origin}/v1`, models: [whole.question.model] });
    const keys: string[] = [];
    while (keys.length < WALLETS) keys.push((await addCustomer(house, MUCH_MONEY)).key);
    const sampler = startSampler(house, { requests: plan.requests, postgresPid: setting.postgresPid });
    const target = { name: 'gateway', url: house.url, keys };
    const load = { ...plan, atOnce: AT_ONCE, onAnswer: sampler.onAnswer };
    const failures = await runLongLoad(target, whole, load);
    const samples = await sampler.end();
    await settled(house, SETTLED_WITHIN_MS);
    const charges = await chargesOf(house);
    const faults = chargeFaults(charges, { answers: plan.requests, failures: failures.length });
    return { requests: plan.requests, growth: growthOf(samples), charges, failures, faults, samples };
  } finally {
    await house.stop();
  }
}

interface Sampler {
  onAnswer: (answered: number) => void;
  /** Resolves with all samples. */
  end: () => Promise<Sample[]>;
}

/** Takes `SAMPLES` samples at equal numbers of answers, and prints some of them. */
function startSampler(
  house: House,
  { requests, postgresPid }: { requests: number; postgresPid: number },
): Sampler {
  const samples: Sample[] = [];
  const from = performance.now();
  const partOf = (answered: number): number => Math.floor((answered * SAMPLES) / requests);
  let sampling = Promise.resolve();
  const take = async (answered: number, seconds: number): Promise<void> => {
    samples.push({ answered, seconds, ...(await memoryNow(house, postgresPid)) });
    if (samples.length % SAMPLES_PER_LINE > 0) return;
    process.stdout.write(`${progressLine(samples.at(-1 - SAMPLES_PER_LINE), samples.at(-1))}\n`);
  };
  return {
    onAnswer: (answered) => {
      if (partOf(answered) === partOf(answered - 1)) return;
      const seconds = (performance.now() - from) / 1_000;
      sampling = sampling.then(() => take(answered, seconds));
      // A failure is thrown at the end.
      sampling.catch(() => undefined);
    },
    end: async () => {
      await sampling;
      return samples;
    },
  };
}

type Memory = Omit<Sample, 'answered' | 'seconds'>;

async function memoryNow(house: House, postgresPid: number): Promise<Memory> {
  const [node] = house.nodes;
  if (!node) throw new Error('The house has no node.');
  const ofNode = await timesOf(node.process);
  const ofControl = await timesOf(house.control);
  const [backlog] = await metric(node.url, 'gateway_usage_backlog');
  return {
    node: ofNode.residentBytes,
    nodeHeap: ofNode.heapUsedBytes,
    control: ofControl.residentBytes,
    controlHeap: ofControl.heapUsedBytes,
    postgres: treeBytes(postgresPid),
    backlog: backlog?.value ?? 0,
  };
}

async function chargesOf({ database }: House): Promise<Charges> {
  const { rows } = await database.query<{ [name in keyof Charges]: string }>(`
    select (select count(*) from usage_entry)::text as rows,
      (select count(*) from usage_charge)::text as charges,
      (select coalesce(sum(amount), 0) from usage_charge)::text as charged,
      (select sum(balance) from ledger_account where kind = 'REVENUE')::text as revenue,
      (select sum(balance) from ledger_account)::text as balance`);
  const [row] = rows;
  if (!row) throw new Error('The database returned no counts.');
  return {
    rows: Number(row.rows),
    charges: Number(row.charges),
    charged: Number(row.charged),
    revenue: Number(row.revenue),
    balance: Number(row.balance),
  };
}
