/** Times as text with microseconds, which a Date would lose. */

/** `2026-11-25 16:00:00.123456+00`, as PostgreSQL writes times in UTC; the fraction is optional. */
const POSTGRES_TIME = /^(\d{4,6}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?\+00$/;

/** Whether the text is a time as PostgreSQL writes it in UTC. */
export function isPostgresTime(text: string): boolean {
  const [, day, time] = POSTGRES_TIME.exec(text) ?? [];
  return day !== undefined && !Number.isNaN(Date.parse(`${day}T${time}Z`));
}

/** Microseconds since 1970 of a Date or of a text of PostgreSQL. Throws an Error for another text. */
export function toMicros(at: Date | string): bigint {
  if (at instanceof Date) return BigInt(at.getTime()) * 1000n;
  const [, day, time, fraction = ''] = POSTGRES_TIME.exec(at) ?? [];
  const seconds = Date.parse(`${day}T${time}Z`);
  if (!day || Number.isNaN(seconds)) throw new Error('Not a time of PostgreSQL in UTC.');
  return BigInt(seconds) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

/** Text of PostgreSQL for a time of ClickHouse with six digits after the point. */
export function toPostgresTime(text: string): string {
  return `${text.replace(/\.?0+$/, '')}+00`;
}
