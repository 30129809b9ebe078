/** Holds the configuration in use. A swap replaces it as a whole; requests keep the one they started with. */
import type { Config, ConfigStore, KeyStop } from './config.ts';

/** The store with write access, for the feed. */
export interface WritableStore extends ConfigStore {
  /** Puts a configuration in use, then calls the listeners with the keys and secrets that became unusable. */
  swap(config: Config, keysStopped: ReadonlyMap<string, KeyStop>): void;
}

/** An empty store: `current` is undefined until the first swap. */
export function createStore(): WritableStore {
  let current: Config | undefined;
  const listeners: ((keys: ReadonlyMap<string, KeyStop>) => void)[] = [];
  return {
    get current() {
      return current;
    },
    onKeysStopped(listener) {
      listeners.push(listener);
    },
    swap(config, keysStopped) {
      current = config;
      if (keysStopped.size > 0) for (const listener of listeners) listener(keysStopped);
    },
  };
}
