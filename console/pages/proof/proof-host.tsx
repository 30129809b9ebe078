/** Shows the dialog for a pending proof of identity; its code loads with the first one. */
import { lazy, Suspense, useEffect } from 'react';
import { useStore } from '../../components/store.ts';
import { loadWords } from '../../i18n.ts';
import { useSession } from '../../session.tsx';

const load = () => Promise.all([import('./proof-dialog.tsx'), loadWords(['profile'])]);
const ProofDialog = lazy(async () => ({ default: (await load())[0].ProofDialog }));

/**
 * Renders the dialog. Include it in every frame whose mutations may require a proof; others refuse at once.
 */
export function ProofHost() {
  const { proof } = useSession();
  const asked = useStore(proof.asked);
  useEffect(() => proof.attach(), [proof]);
  return <Suspense>{asked && <ProofDialog onSettle={asked.settle} />}</Suspense>;
}
