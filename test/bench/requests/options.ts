/** Reads the arguments of `npm run bench`. */
import { parseArgs } from 'node:util';
import { USUAL } from './workloads.ts';

/** A measurement of the memory of many requests. */
export interface EndurancePlan {
  requests: number;
  /** Upper bound of the rate, so that other work can run beside it; by default there is none. */
  perSecond?: number;
}

/** The choices of one run. */
export interface BenchOptions {
  /** Names of workloads. */
  workloads: string[];
  rounds: number;
  /** Numbers of open streams whose memory is measured. */
  streams: number[];
  /** Measures one wallet over two nodes as well. */
  wallet: boolean;
  /** A commit whose node is measured in turn with that of this checkout. */
  compare?: string;
  /** A workload that is profiled instead of measured. */
  profile?: string;
  endurance?: EndurancePlan;
  /** Worker processes of the node. */
  workers: number;
}

/** Rounds that a target is decided by. */
const ROUNDS = '5';
/** Requests of an endurance run: at least one for each sample of memory. */
const ENDURANCE_MIN = 100;

/** The text of `--help`. */
export function helpText(names: readonly string[]): string {
  return `npm run bench -- [options]

Measures CPU time, latency and memory of this gateway and of a bare Fastify in turn, in one run.
Every request is charged and durable. Nothing else may run on the machine.

  --workload NAME   measures this workload only; may be repeated
  --rounds N        measures each target N times, in turn (${ROUNDS})
  --workers N       lets the node have N workers; CPU time is in steps of 10 ms (1; needs --workload)
  --streams N       measures the memory of N open streams; may be repeated (1000; 0 for none)
  --compare REF     measures the node of another commit as well, in turn with that of this checkout
  --profile NAME    lists the functions of the node that take most time in this workload, and measures nothing
  --endurance N     measures only the memory of the gateway while it answers N short requests
  --per-second R    sends at most R of these requests a second (default: no bound)
  wallet            measures only one wallet over two nodes, at 1,000 requests a second

Workloads: ${names.map((name) => (USUAL.includes(name) ? name : `${name} (only if named)`)).join('; ')}.
`;
}

/** The options. Throws an Error that says what is wrong. */
export function readOptions(args: string[], names: readonly string[]): BenchOptions | 'help' {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      workload: { type: 'string', multiple: true },
      rounds: { type: 'string', default: ROUNDS },
      workers: { type: 'string', default: '1' },
      streams: { type: 'string', multiple: true },
      compare: { type: 'string' },
      profile: { type: 'string' },
      endurance: { type: 'string' },
      'per-second': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const [command, ...rest] = positionals;
  if ((command !== undefined && command !== 'wallet') || rest.length > 0)
    throw new Error(`"${positionals.join(' ')}" is no command. See --help.`);
  const isWallet = command === 'wallet';
  const named = [...(values.workload ?? []), ...(values.profile === undefined ? [] : [values.profile])];
  const unknown = named.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Error(`There is no workload "${unknown.join('", "')}". Name one of: ${names.join('; ')}.`);
  const endurance = enduranceOf(values.endurance, values['per-second']);
  const workers = whole('workers', values.workers, 1);
  if (workers > 1 && (!values.workload || values.profile !== undefined || values.streams))
    throw new Error('--workers is for --workload alone.');
  const isAlone = isWallet || endurance !== undefined;
  return {
    workloads: isAlone ? [] : (values.workload ?? [...USUAL]),
    rounds: whole('rounds', values.rounds, 1),
    workers,
    streams: (values.streams ?? (isAlone || named.length > 0 ? [] : ['1000']))
      .map((text) => whole('streams', text, 0))
      .filter((count) => count > 0),
    wallet: isWallet || (!isAlone && named.length === 0 && values.compare === undefined),
    ...(endurance && { endurance }),
    ...(values.compare !== undefined && { compare: values.compare }),
    ...(values.profile !== undefined && { profile: values.profile }),
  };
}

function enduranceOf(requests?: string, perSecond?: string): EndurancePlan | undefined {
  if (requests === undefined) {
    if (perSecond === undefined) return undefined;
    throw new Error('--per-second is for --endurance.');
  }
  return {
    requests: whole('endurance', requests, ENDURANCE_MIN),
    ...(perSecond !== undefined && { perSecond: whole('per-second', perSecond, 1) }),
  };
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least)
    throw new Error(`--${name} must be a whole number of at least ${least}.`);
  return value;
}
