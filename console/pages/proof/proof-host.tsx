/** Shows the dialog for a pending proof of identity; its code loads with the first one. */
import { lazy, Suspense } from 'react';
import { useStore } from '../../components/store.ts';
import { loadWords } from '../../i18n.ts';
import { useSession } from '../../session.tsx';

const load = () => Promise.all([import('./proof-dialog.tsx'), loadWords(['profile'])]);
const ProofDialog = lazy(async () => ({ default: (await load())[0].ProofDialog }));

/** Renders the dialog. Include it in every frame whose pages send mutations. */
export function ProofHost() {
  const asked = useStore(useSession().proof);
  return <Suspense>{asked && <ProofDialog onSettle={asked.settle} />}</Suspense>;
}
