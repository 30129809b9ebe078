/** Validates quirks before they are stored. */
import { QUIRKS_MAX, quirkProblem } from '@gateway/shared/quirks';
import type { Quirk } from '@gateway/shared/quirks';
import { UserFailure } from '../graphql/errors.ts';

/** A row as it was sent. */
export type QuirkInput = Pick<Quirk, 'kind'> & {
  [Field in Exclude<keyof Quirk, 'kind'>]?: Quirk[Field] | undefined;
};

/** The rows with null for what they leave out. Throws INVALID, which names the row. */
export function checkQuirks(rows: readonly QuirkInput[]): Quirk[] {
  if (rows.length > QUIRKS_MAX)
    throw new UserFailure('INVALID', `Save at most ${QUIRKS_MAX} quirks.`, 'quirks');
  return rows.map(({ kind, member, other, value, min, max }, index) => {
    const quirk: Quirk = {
      kind,
      member: member ?? null,
      other: other ?? null,
      value: value ?? null,
      min: min ?? null,
      max: max ?? null,
    };
    const problem = quirkProblem(quirk);
    if (problem !== undefined) throw new UserFailure('INVALID', `Row ${index + 1}: ${problem}`, 'quirks');
    return quirk;
  });
}
