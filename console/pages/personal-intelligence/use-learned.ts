/** The items that were learned lately, live. */
import { useQuery, useSubscription } from 'urql';
import { IntelligenceChanges, type Learned, LearnedQuery } from './learned-documents.ts';

const NONE: readonly Learned[] = [];

/** Returns the learned items, and a function that loads them again. `onChanged` runs with each reload. */
export function useLearned(onChanged: (() => void) | undefined) {
  const [{ data }, again] = useQuery({ query: LearnedQuery, requestPolicy: 'cache-and-network' });
  const refresh = () => {
    again({ requestPolicy: 'network-only' });
    onChanged?.();
  };
  useSubscription({ query: IntelligenceChanges }, (_, event) => {
    refresh();
    return event;
  });
  return { learned: data?.viewer?.personalIntelligence.learned ?? NONE, refresh };
}
