/** Collects the scalars of a client's request together with their JSON pointers. */
import type { ChatRequest, ScalarName } from './canonical.ts';

/** Stores one scalar and its JSON pointer; does nothing if the value is undefined. */
type KeepScalar = <Name extends ScalarName>(
  name: Name,
  value: ChatRequest[Name] | undefined,
  field: string,
) => void;

/**
 * Returns a function that stores values in `scalars` and their JSON pointers in `pointers`. `pointerTo`
 * turns the field that the function is given into a JSON pointer; by default, the field is one.
 */
export function scalarKeeper(
  scalars: Partial<ChatRequest>,
  pointers: ChatRequest['pointers'],
  pointerTo: (field: string) => string = (field) => field,
): KeepScalar {
  return (name, value, field) => {
    if (value === undefined) return;
    scalars[name] = value;
    pointers[name] = pointerTo(field);
  };
}
