/** Whether a page already stands in a frame: a page that is shown in several places brings one if not. */
import { createContext } from 'react';

export const FrameContext = createContext(false);
