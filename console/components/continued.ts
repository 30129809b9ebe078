/** Whether the scripts have taken over the HTML of a page. */
import { createContext, useContext } from 'react';

/** See `useContinued`. `Console` provides it. */
export const ContinuedContext = createContext(true);

/**
 * False while the build renders a page, and while the scripts continue its HTML; then true. The first
 * rendering of the scripts must be that of the build, which knows nothing of the device.
 */
export function useContinued(): boolean {
  return useContext(ContinuedContext);
}
