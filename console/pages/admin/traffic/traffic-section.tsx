/**
 * Charts of traffic as a part of a page. Their code and texts load late: when the user asks for them or
 * scrolls to them, so that the page itself stays small.
 */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChartColumn } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { SkeletonRows } from '../../../components/notice.tsx';
import { WhenSeen } from '../../../components/when-seen.tsx';
import { loadWords } from '../../../i18n.ts';
import { useTranslation } from '../../../translation.ts';
import type { TrafficChartsProps } from './traffic-charts.tsx';
import { TrafficPart } from './traffic-part.tsx';

const load = () => Promise.all([import('./traffic-charts.tsx'), loadWords(['usage'])]);
const TrafficCharts = lazy(async () => ({ default: (await load())[0].TrafficCharts }));

/** The charts once the user has scrolled to them, for the end of a long page. */
export function TrafficOnceSeen(props: TrafficChartsProps) {
  return (
    <WhenSeen>
      <TrafficCharts {...props} />
    </WhenSeen>
  );
}

/** A button that shows the charts; the address remembers it. The charts get the focus of the button. */
export function TrafficOnDemand(props: TrafficChartsProps) {
  const { t } = useTranslation();
  const { chart } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [isAsked, setIsAsked] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const isShown = chart !== undefined;
  useEffect(() => {
    if (isShown && isAsked) place.current?.focus({ preventScroll: true });
  }, [isShown, isAsked]);
  if (isShown)
    return (
      <div ref={place} tabIndex={-1} className="outline-none">
        <Suspense
          fallback={
            <TrafficPart title={props.title}>
              <SkeletonRows />
            </TrafficPart>
          }
        >
          <TrafficCharts {...props} />
        </Suspense>
      </div>
    );
  return (
    <TrafficPart title={props.title}>
      <Button
        icon={<ChartColumn size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => {
          setIsAsked(true);
          void navigate({
            to: '.',
            search: (search) => ({ ...search, chart: 'requests' as const }),
            resetScroll: false,
          });
        }}
      >
        {t('admin.showCharts')}
      </Button>
    </TrafficPart>
  );
}
