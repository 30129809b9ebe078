/** The renewal dialog, loaded with its texts when it is first opened. */
import { lazy } from 'react';
import { loadWords } from '../../i18n.ts';

const load = () => Promise.all([import('./renew-dialog.tsx'), loadWords(['pools', 'purchase'])]);

export const RenewDialog = lazy(async () => ({ default: (await load())[0].RenewDialog }));
