/** Line-by-line difference of two texts, by their longest common subsequence. */

export interface DiffLine {
  kind: 'same' | 'gone' | 'new';
  text: string;
}

/** Texts with more lines are shown as fully replaced: the comparison grows with the square of the lines. */
const LINES_MAX = 1_500;

/** Returns the lines of both texts in one list, each marked as same, gone or new. */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = before.split('\n');
  const fresh = after.split('\n');
  if (old.length > LINES_MAX || fresh.length > LINES_MAX) {
    return [...old.map((text) => line('gone', text)), ...fresh.map((text) => line('new', text))];
  }
  const common = commonLengths(old, fresh);
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  while (left < old.length || right < fresh.length) {
    if (left < old.length && right < fresh.length && old[left] === fresh[right]) {
      lines.push(line('same', old[left]));
      left += 1;
      right += 1;
    } else if (right >= fresh.length || at(common, left + 1, right) >= at(common, left, right + 1)) {
      if (left >= old.length) break;
      lines.push(line('gone', old[left]));
      left += 1;
    } else {
      lines.push(line('new', fresh[right]));
      right += 1;
    }
  }
  return [...lines, ...fresh.slice(right).map((text) => line('new', text))];
}

function line(kind: DiffLine['kind'], text = ''): DiffLine {
  return { kind, text };
}

function at(table: readonly (readonly number[])[], row: number, column: number): number {
  return table[row]?.[column] ?? 0;
}

/** Table of the number of common lines in the remainders of both texts, by start lines. */
function commonLengths(old: readonly string[], fresh: readonly string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () => Array<number>(fresh.length + 1).fill(0));
  for (let row = old.length - 1; row >= 0; row -= 1) {
    const current = table[row] ?? [];
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      current[column] =
        old[row] === fresh[column]
          ? at(table, row + 1, column + 1) + 1
          : Math.max(at(table, row + 1, column), at(table, row, column + 1));
    }
  }
  return table;
}
