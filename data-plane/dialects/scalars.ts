/** The scalars of a client's request as they are read: each is kept together with where it stood. */
import type { ChatRequest, ScalarName } from './canonical.ts';

/** Keeps one scalar; what the client did not send is left out. */
export type KeepScalar = <Name extends ScalarName>(
  name: Name,
  value: ChatRequest[Name] | undefined,
  place: string,
) => void;

/** Keeps values in `scalars` and their JSON pointers in `pointers`; `pointerTo` makes one of a place. */
export function scalarKeeper(
  scalars: Partial<ChatRequest>,
  pointers: ChatRequest['pointers'],
  pointerTo: (place: string) => string = (place) => place,
): KeepScalar {
  return (name, value, place) => {
    if (value === undefined) return;
    scalars[name] = value;
    pointers[name] = pointerTo(place);
  };
}
