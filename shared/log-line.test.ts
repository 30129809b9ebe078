/** The format of the log of both planes. */
import { describe, expect, it } from 'vitest';
import { createLogWriter, readLogLevel } from './log-line.ts';

describe('the log', () => {
  const linesOf = (lowest: string): Record<string, unknown>[] => {
    const lines: string[] = [];
    const log = createLogWriter({ plane: 'node', instance: 'node-1', lowest }, (line) => lines.push(line));
    log('debug', 'a detail', {});
    log('warn', 'look here', { revision: 7 });
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  it('writes a line of JSON with time, level, plane, instance and message', () => {
    const [line] = linesOf('info');
    expect(line).toMatchObject({ level: 'warn', plane: 'node', instance: 'node-1', message: 'look here' });
    expect(line).toMatchObject({ revision: 7 });
    expect(line?.['time']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('keeps its own members if fields have the same names', () => {
    const lines: string[] = [];
    const log = createLogWriter({ plane: 'node', instance: 'node-1', lowest: 'info' }, (line) =>
      lines.push(line),
    );
    log('error', 'the disk is full', { level: 'info', time: 0, message: 'all is well', plane: 'control' });
    const [line] = lines.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(line).toMatchObject({ level: 'error', plane: 'node', message: 'the disk is full' });
    expect(line?.['time']).not.toBe(0);
  });

  it('writes amounts that JSON has no number for as text', () => {
    const lines: string[] = [];
    const log = createLogWriter({ plane: 'node', instance: 'node-1', lowest: 'info' }, (line) =>
      lines.push(line),
    );
    log('info', 'settled', { micros: 9_007_199_254_740_993n, leases: [{ left: 1n }] });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ micros: '9007199254740993', leases: [{ left: '1' }] });
  });

  it.each([
    ['trace', 2],
    ['debug', 2],
    ['info', 1],
    ['error', 0],
    ['silent', 0],
  ])('writes with LOG_LEVEL %s %i lines of a debug line and a warning', (lowest, count) => {
    expect(linesOf(lowest)).toHaveLength(count);
  });

  it('refuses an unknown LOG_LEVEL, and takes info without one', () => {
    expect(readLogLevel({})).toBe('info');
    expect(() => readLogLevel({ LOG_LEVEL: 'loud' })).toThrow('LOG_LEVEL is "loud"');
  });
});
