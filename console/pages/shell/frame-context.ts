/** Whether a page is already inside a frame. Pages that are shown in several places bring one if not. */
import { createContext } from 'react';

export const FrameContext = createContext(false);
