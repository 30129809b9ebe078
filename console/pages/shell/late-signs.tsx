/** Notices of the frames while the service does not answer. Loads after the page, with the live updates. */
import { lazy } from 'react';
import { loadLive } from '../../client.ts';

type Live = Awaited<ReturnType<typeof loadLive>>;

const Nothing = () => null;
const part = (name: 'PendingBar' | 'ReachNotice') =>
  lazy(async () => {
    const live: Live | undefined = await loadLive().catch(() => undefined);
    return { default: live?.[name] ?? Nothing };
  });

export const PendingBar = part('PendingBar');
export const ReachNotice = part('ReachNotice');
