/** For each alert rule: series of metrics, when the alert fires, and when it must not. */

/** One case. Times are minutes after the start of the series; a value stands for each minute. */
export interface AlertCase {
  alert: string;
  /** Values by series, in the notation of `promtool test rules`. */
  series: Readonly<Record<string, string>>;
  /** When the alert does not fire. */
  quiet: readonly number[];
  /** When it fires; none for a case that shows what must not page. */
  fires?: number;
  /** Minutes between two evaluations of the rules; 1 unless given. A case of days takes more. */
  every?: number;
  /** Labels of the firing alert besides its severity. */
  labels?: Readonly<Record<string, string>>;
}

/** Zero for six minutes, then the value. */
const from6 = (value: number, minutes = 60): string => `0+0x5 ${value}+0x${minutes}`;
const FAILED = 'gateway_requests_total{job="gateway-node", instance="n1", code="internal"}';
const GOOD = 'gateway_requests_total{job="gateway-node", instance="n1", code="ok"}';
const NODE = { job: 'gateway-node', instance: 'n1' };
const LEAVING = 'gateway_node_leaving{job="gateway-node", instance="n1"}';

const MONEY: readonly AlertCase[] = [
  {
    alert: 'GatewayLedgerViolation',
    series: { 'gateway_ledger_violations{rule="I1"}': from6(1) },
    ...{ quiet: [5], fires: 7, labels: { rule: 'I1' } },
  },
  {
    alert: 'GatewayLedgerUnchecked',
    series: { 'gateway_ledger_checked_timestamp_seconds{instance="c1"}': '0+0x200' },
    ...{ quiet: [119, 125], fires: 135, labels: { instance: 'c1' } },
  },
  {
    // The first alarm of a kind pages although its series did not exist before.
    alert: 'GatewaySettlementAlarm',
    series: { 'gateway_settlement_alarms{kind="REJECTED"}': '_x9 1+0x40' },
    ...{ quiet: [5, 30], fires: 12, labels: { kind: 'REJECTED' } },
  },
  {
    alert: 'GatewayChargesQuarantined',
    series: { 'gateway_charges_quarantined{instance="n1"}': from6(3) },
    ...{ quiet: [5, 12], fires: 18, labels: { instance: 'n1' } },
  },
  {
    alert: 'GatewayJournalNotWritable',
    series: { 'gateway_journal_writable{instance="n1"}': '1+0x5 0+0x20' },
    ...{ quiet: [5], fires: 8, labels: { instance: 'n1' } },
  },
  {
    alert: 'GatewayUsageBacklog',
    series: { 'gateway_usage_backlog{instance="n1"}': from6(6000) },
    ...{ quiet: [5, 8], fires: 12, labels: { instance: 'n1' } },
  },
  {
    alert: 'GatewayPaymentStuck',
    series: { 'gateway_payment_stuck{issue="refund_failed"}': from6(1) },
    ...{ quiet: [5, 30], fires: 38, labels: { issue: 'refund_failed' } },
  },
  {
    alert: 'GatewayPaymentReversed',
    series: { 'gateway_payment_stuck{issue="reversed"}': from6(1) },
    ...{ quiet: [5], fires: 7 },
  },
  {
    alert: 'GatewayPaymentCorrected',
    series: { 'gateway_payment_corrections_total{kind="missed_event"}': from6(1) },
    ...{ quiet: [5], fires: 10, labels: { kind: 'missed_event' } },
  },
  {
    alert: 'GatewayPaymentUncompared',
    series: { gateway_payment_reconciled_timestamp_seconds: '60+0x60' },
    ...{ quiet: [10], fires: 18 },
  },
  {
    alert: 'GatewayPaymentProcessorFailing',
    series: { 'gateway_payment_processor_calls_total{result="failed"}': '0+1x60' },
    ...{ quiet: [3], fires: 20, labels: { result: 'failed' } },
  },
  {
    alert: 'GatewayPaymentWebhookRefused',
    series: { 'gateway_payment_webhook_events_total{outcome="refused"}': '0+1x60' },
    ...{ quiet: [5], fires: 20, labels: { outcome: 'refused' } },
  },
  {
    alert: 'GatewayChainUnread',
    series: { 'gateway_chain_read_timestamp_seconds{chain="1"}': '60+0x60' },
    ...{ quiet: [10], fires: 18, labels: { chain: '1' } },
  },
  {
    alert: 'GatewayChainFrozen',
    series: { 'gateway_chain_frozen{chain="1"}': from6(1) },
    ...{ quiet: [5], fires: 7, labels: { chain: '1' } },
  },
];

const SERVICE: readonly AlertCase[] = [
  {
    alert: 'GatewayDown',
    series: { 'up{job="gateway-node", instance="n1"}': '1+0x5 0+0x20' },
    ...{ quiet: [5, 6], fires: 9, labels: NODE },
  },
  {
    // A node that is being stopped may end.
    alert: 'GatewayDown',
    series: { 'up{job="gateway-node", instance="n1"}': '1+0x5 0+0x10', [LEAVING]: '0+0x4 1+0x1' },
    quiet: [9, 12],
  },
  {
    alert: 'GatewayConfigOld',
    series: { 'gateway_config_confirmed_timestamp_seconds{instance="n1"}': '0+0x20' },
    ...{ quiet: [4], fires: 6, labels: { instance: 'n1' } },
  },
  {
    alert: 'GatewayConfigLagging',
    series: {
      'gateway_config_revision{instance="n1"}': '5+0x20',
      'gateway_config_revision{instance="n2"}': '5+0x3 6+0x20',
    },
    ...{ quiet: [3, 5], fires: 8, labels: { instance: 'n1' } },
  },
  {
    alert: 'GatewayCredentialUnreadable',
    series: { 'gateway_credentials_unreadable{instance="n1"}': from6(1) },
    ...{ quiet: [5], fires: 7, labels: { instance: 'n1' } },
  },
  {
    alert: 'GatewayUpstreamSkipped',
    series: { 'gateway_upstream_records_skipped{instance="n1"}': from6(1) },
    ...{ quiet: [5], fires: 7, labels: { instance: 'n1' } },
  },
  {
    alert: 'GatewayUpstreamFailing',
    series: { [GOOD]: '0+90x60', [FAILED.replace('internal', 'upstream_failed')]: '0+10x60' },
    ...{ quiet: [3], fires: 15 },
  },
  {
    alert: 'GatewayUpstreamFailing',
    series: { [GOOD]: '0+99x60', [FAILED.replace('internal', 'upstream_failed')]: '0+1x60' },
    quiet: [15, 30],
  },
  {
    alert: 'GatewayUpstreamLeftAlone',
    series: { 'gateway_upstream_circuit{instance="n1", provider="prv_1"}': from6(2) },
    ...{ quiet: [5, 12], fires: 18, labels: { instance: 'n1', provider: 'prv_1' } },
  },
  {
    alert: 'GatewayUpstreamProbeFailed',
    series: { 'gateway_upstream_probe_failed{provider="prv_1"}': from6(1) },
    ...{ quiet: [5, 18], fires: 23, labels: { provider: 'prv_1' } },
  },
  {
    alert: 'GatewayRouteLeftAlone',
    series: { 'gateway_upstream_route_ejections_total{instance="n1", provider="prv_1"}': '0+1x60' },
    ...{ quiet: [1], fires: 20, labels: { instance: 'n1', provider: 'prv_1' } },
  },
  { alert: 'GatewayOwnFailures', series: { [FAILED]: '0+1x60' }, ...{ quiet: [4], fires: 15, labels: NODE } },
  {
    // A node that is being stopped refuses requests on purpose.
    alert: 'GatewayOwnFailures',
    series: { [FAILED]: '0+1x20', [LEAVING]: '1+0x20' },
    quiet: [10, 15],
  },
  {
    alert: 'GatewayErrorBudgetFast',
    series: { [GOOD]: '0+95x90', [FAILED]: '0+5x90' },
    ...{ quiet: [0], fires: 70 },
  },
  { alert: 'GatewayErrorBudgetFast', series: { [GOOD]: '0+99x90', [FAILED]: '0+1x90' }, quiet: [70] },
  {
    alert: 'GatewayErrorBudgetSlow',
    series: { [GOOD]: '0+99x400', [FAILED]: '0+1x400' },
    ...{ quiet: [0], fires: 380 },
  },
  { alert: 'GatewayErrorBudgetSlow', series: { [GOOD]: '0+199x400', [FAILED]: '0+1x400' }, quiet: [380] },
];

const BACKGROUND: readonly AlertCase[] = [
  {
    alert: 'GatewayUsageExportDiffers',
    series: { 'gateway_usage_export_differing_days{instance="c1"}': from6(2) },
    ...{ quiet: [5], fires: 7 },
  },
  {
    // Without ClickHouse there is no comparison, and 0 is no time.
    alert: 'GatewayUsageExportUncompared',
    series: { 'gateway_usage_export_compared_timestamp_seconds{instance="c1"}': '0+0x5000' },
    ...{ quiet: [4000], every: 10 },
  },
  {
    alert: 'GatewayUsageExportUncompared',
    series: { 'gateway_usage_export_compared_timestamp_seconds{instance="c1"}': '60+0x5000' },
    ...{ quiet: [2800], fires: 2900, every: 10 },
  },
  {
    alert: 'GatewayUsageExportNeverCompared',
    series: {
      'gateway_usage_answers_total{by="clickhouse",instance="c1"}': '1+1x3000',
      'gateway_usage_export_compared_timestamp_seconds{instance="c1"}': '0+0x3000',
    },
    ...{ quiet: [1000], fires: 1600, every: 10 },
  },
  {
    alert: 'GatewayUsageExportLate',
    series: { 'gateway_usage_export_behind_seconds{instance="c1"}': from6(400) },
    ...{ quiet: [5, 10], fires: 18 },
  },
  {
    // No file was archived before.
    alert: 'GatewayUsageArchiveLate',
    series: {
      'gateway_usage_archive_pending_partitions{instance="c1"}': '0+0x500 1+0x200',
      'gateway_usage_archive_timestamp_seconds{instance="c1"}': '0+0x700',
    },
    ...{ quiet: [400, 550], fires: 580 },
  },
  {
    // A large partition: one file after another is written.
    alert: 'GatewayUsageArchiveLate',
    series: {
      'gateway_usage_archive_pending_partitions{instance="c1"}': '1+0x1000',
      'gateway_usage_archive_timestamp_seconds{instance="c1"}': '0+60x1000',
    },
    quiet: [500, 900],
  },
  {
    alert: 'GatewayDatabasePoolFull',
    series: { 'gateway_database_connections{state="waiting", instance="c1"}': from6(2) },
    ...{ quiet: [5, 9], fires: 13, labels: { state: 'waiting', instance: 'c1' } },
  },
  {
    alert: 'GatewayJobLate',
    series: { 'gateway_job_age_seconds{name="pools"}': '60+0x5 8000+0x20' },
    ...{ quiet: [5], fires: 7, labels: { name: 'pools' } },
  },
  {
    alert: 'GatewayCommitSlow',
    series: {
      'gateway_commit_seconds_bucket{le="0.05"}': '0+1x60',
      'gateway_commit_seconds_bucket{le="0.5"}': '0+100x60',
      'gateway_commit_seconds_bucket{le="+Inf"}': '0+100x60',
    },
    ...{ quiet: [5], fires: 20 },
  },
  {
    alert: 'GatewayBackgroundFailing',
    series: { 'gateway_background_failures_total{task="pools"}': '0+1x60' },
    ...{ quiet: [1], fires: 20, labels: { task: 'pools' } },
  },
  {
    alert: 'GatewayWorkersReplaced',
    series: { 'gateway_worker_replacements_total{instance="n1"}': '0+1x60' },
    ...{ quiet: [2], fires: 15, labels: { instance: 'n1' } },
  },
  {
    alert: 'GatewayWorkersReplaced',
    series: { 'gateway_worker_replacements_total{instance="n1"}': '0+0x10 1+0x50' },
    quiet: [9, 20, 40],
  },
  {
    alert: 'GatewayApiFailing',
    series: { gateway_control_masked_errors_total: '0+1x60' },
    ...{ quiet: [2], fires: 15 },
  },
  {
    alert: 'GatewayPersonalIntelligenceLate',
    series: { gateway_personal_queue_age_seconds: from6(700) },
    ...{ quiet: [5, 12], fires: 18 },
  },
  {
    alert: 'GatewayPersonalIntelligenceQuarantined',
    series: { 'gateway_personal_jobs{state="quarantined"}': from6(1) },
    ...{ quiet: [5, 12], fires: 18 },
  },
  {
    alert: 'GatewayPersonalIntelligenceBudget',
    series: { 'gateway_personal_jobs{state="postponed"}': from6(1) },
    ...{ quiet: [5, 12], fires: 18 },
  },
];

/** The cases of all alert rules. */
export const ALERT_CASES: readonly AlertCase[] = [...MONEY, ...SERVICE, ...BACKGROUND];
