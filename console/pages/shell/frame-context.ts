/** Values that the frame gives to the page in it. */
import { useMatches } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext } from 'react';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Whether the page shows its head before it is known who is signed in. It then calls `useMeanwhile`. */
    headFirst?: boolean;
  }
}

/** Whether a page is already inside a frame. Pages that are shown in several places bring one if not. */
export const FrameContext = createContext(false);

/** See `useMeanwhile`. */
export const MeanwhileContext = createContext<ReactNode>(undefined);

/**
 * The part below the head of a page until it is known who is signed in, and with that the time zone: a
 * skeleton, or the failure. Undefined while a viewer is known. Only pages whose route has `headFirst` are
 * rendered before.
 */
export function useMeanwhile(): ReactNode {
  return useContext(MeanwhileContext);
}

/** Whether the present page shows its head before it is known who is signed in. */
export function useHeadFirst(): boolean {
  return useMatches({ select: (matches) => matches.at(-1)?.staticData.headFirst === true });
}
