/** The feed of this process, for the resolver that hands it to nodes. */
import { requestError } from '../errors.ts';
import type { ConfigFeed } from './config-feed.ts';

let running: ConfigFeed | undefined;

/** Called at the start and at the end of the process. */
export function setRunningFeed(feed: ConfigFeed | undefined): void {
  running = feed;
}

/** The feed. Throws while the process starts or stops: the node comes back. */
export function runningFeed(): ConfigFeed {
  if (!running)
    throw requestError('RATE_LIMITED', 'The control plane is starting or stopping. Subscribe again.');
  return running;
}
