/**
 * The order and the selection of the nearest table. A table draws its rows after the browser has shown the
 * effect of a press, but its header and its checkboxes at once: they read these contexts.
 */
import { createContext } from 'react';
import type { Selection, Sorting } from './table-types.ts';

/** The order; undefined if the table cannot be sorted. */
export const SortingContext = createContext<Sorting | undefined>(undefined);

/** The chosen rows. */
export type Choice = Pick<Selection<never>, 'chosen' | 'onChoose'>;

/** The chosen rows; nothing is chosen in a table without checkboxes. */
export const ChoiceContext = createContext<Choice>({ chosen: new Set(), onChoose: () => undefined });
