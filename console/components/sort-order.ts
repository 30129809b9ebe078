/** The order of a list: a column id, with a minus in front if the largest value is first. */

/** The column and the direction of an order. */
export function orderOf(
  value: string | undefined,
): { column: string; direction: 'ASC' | 'DESC' } | undefined {
  if (value === undefined) return undefined;
  const isDown = value.startsWith('-');
  return { column: isDown ? value.slice(1) : value, direction: isDown ? 'DESC' : 'ASC' };
}

/** The order after a press on a header: the column's first direction, or the opposite of the present one. */
export function nextOrder(value: string | undefined, column: string, first: 'asc' | 'desc'): string {
  const present = orderOf(value);
  const direction =
    present?.column === column ? opposite(present.direction) : first === 'asc' ? 'ASC' : 'DESC';
  return direction === 'DESC' ? `-${column}` : column;
}

function opposite(direction: 'ASC' | 'DESC'): 'ASC' | 'DESC' {
  return direction === 'ASC' ? 'DESC' : 'ASC';
}

/** The `orderBy` of a query: the field of the service for a column; null for the order of the service. */
export function orderBy<Field extends string>(
  value: string | undefined,
  fields: Readonly<Partial<Record<string, Field>>>,
): { field: Field; direction: 'ASC' | 'DESC' } | null {
  const order = orderOf(value);
  const field = order && Object.hasOwn(fields, order.column) ? fields[order.column] : undefined;
  return order && field !== undefined ? { field, direction: order.direction } : null;
}

/** Sorts the rows of a list that is loaded as a whole. Without a known column the order stays. */
export function sortRows<Row>(
  rows: readonly Row[],
  value: string | undefined,
  values: Readonly<Partial<Record<string, (row: Row) => string | number>>>,
): readonly Row[] {
  const order = orderOf(value);
  const valueOf = order && Object.hasOwn(values, order.column) ? values[order.column] : undefined;
  if (!order || !valueOf) return rows;
  const sign = order.direction === 'ASC' ? 1 : -1;
  return rows.toSorted((one, other) => sign * compare(valueOf(one), valueOf(other)));
}

const WORDS = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return WORDS.compare(String(one), String(other));
}
