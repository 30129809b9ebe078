import { describe, expect, it } from 'vitest';
import { helpText, readOptions } from './options.ts';
import { USUAL } from './workloads.ts';

const NAMES = [...USUAL, 'rare'];
const read = (...args: string[]) => readOptions(args, NAMES);

describe('the arguments of the benchmark', () => {
  it('mean the usual workloads, 1,000 streams and the wallet if there are none', () => {
    const all = { workloads: [...USUAL], rounds: 5, workers: 1, streams: [1_000], wallet: true };
    expect(read()).toEqual(all);
  });

  it('name workloads, which are measured alone', () => {
    const named = read('--workload', 'rare', '--rounds', '2');
    expect(named).toEqual({ workloads: ['rare'], rounds: 2, workers: 1, streams: [], wallet: false });
    expect(read('--workload', 'rare', '--workers', '2')).toMatchObject({ workloads: ['rare'], workers: 2 });
    expect(read('wallet')).toMatchObject({ workloads: [], streams: [], wallet: true });
    expect(read('--streams', '0')).toMatchObject({ streams: [] });
  });

  it('measure the memory of many requests alone, with a bound of their rate if there is one', () => {
    const alone = { workloads: [], rounds: 5, workers: 1, streams: [], wallet: false };
    expect(read('--endurance', '1000')).toEqual({ ...alone, endurance: { requests: 1_000 } });
    const bound = { requests: 1_000, perSecond: 50 };
    expect(read('--endurance', '1000', '--per-second', '50')).toEqual({ ...alone, endurance: bound });
  });

  it.each([
    [['--workload', 'unknown'], 'There is no workload "unknown"'],
    [['--profile', 'unknown'], 'There is no workload "unknown"'],
    [['--rounds', '0'], '--rounds must be'],
    [['--streams', '1.5'], '--streams must be'],
    [['--endurance', '99'], '--endurance must be'],
    [['--endurance', '100', '--per-second', '0'], '--per-second must be'],
    [['--per-second', '50'], '--per-second is for --endurance'],
    [['--workload', 'rare', '--workers', '0'], '--workers must be'],
    [['--workers', '2'], '--workers is for --workload'],
    [['--workload', 'rare', '--workers', '2', '--streams', '9'], '--workers is for --workload'],
    [['walet'], '"walet" is no command'],
  ])('are refused with the reason if they are %j', (args, reason) => {
    expect(() => read(...args)).toThrow(reason);
  });

  it('lead to a help text that names every workload', () => {
    expect(read('--help')).toBe('help');
    for (const name of NAMES) expect(helpText(NAMES)).toContain(name);
  });
});
