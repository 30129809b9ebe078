/** Whether live updates are running: shown in the top bar and beside the prices. */

/** `idle` until the first subscription, then `live`, or `reconnecting` while the socket is down. */
export type Connection = 'idle' | 'live' | 'reconnecting';
