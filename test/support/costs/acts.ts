import type { Units } from './prices.ts'

export interface Act {
  label: string
  /** The way in which it is measured. */
  how: string
  /** The most that one act costs. Units without a number cost nothing. */
  units: Partial<Units>
  /** The goal in dollars for a million acts. */
  goal?: number
}

/**
 * The cost of an act from its request to its end. test/jobs/costs.test.ts checks the numbers, which change only on
 * purpose.
 */
export const acts = {
  list_page: {
    label: 'Page of a list',
    how: '`listOrders`, 50 of 200 orders of an edition, with the exact count',
    units: { invocations: 1, rows_read: 260 },
    goal: 0.6,
  },
  order: {
    label: 'Order imported by a call',
    how: 'one of 100 in a call: 1.5 purchases, a new customer, nobody listens',
    units: { invocations: 0.01, rows_read: 24.5, rows_written: 33.75 },
    goal: 34,
  },
  import_row: {
    label: 'Row of a file imported',
    how: 'of 1,000 rows that make 400 orders: upload, columns, staging, import',
    units: {
      invocations: 0.01,
      rows_read: 19.4,
      rows_written: 18.339,
      queue_operations: 0.009,
      bucket_writes: 0.003,
      bucket_reads: 0.006,
    },
    goal: 15,
  },
  webhook: {
    label: 'Webhook delivered at the first attempt',
    how: 'what a use of a purchase costs more when one endpoint listens',
    units: { rows_read: 31, rows_written: 6 },
    goal: 7,
  },
  campaign_recipient: {
    label: 'Recipient of an e-mail campaign',
    how: 'one of 1,000, from the request to send to the end of the campaign; the segment is calculated already',
    units: {
      invocations: 0.002,
      rows_read: 33.7,
      rows_written: 9.111,
      queue_operations: 0.003,
      object_requests: 0.02,
    },
    goal: 10,
  },
  refund: {
    label: 'Refund of a purchase',
    how: 'asked for, approved and paid back by hand, with the confirmation; nobody listens',
    units: { invocations: 4, rows_read: 178.6, rows_written: 53.7, queue_operations: 3 },
  },
  upload: {
    label: 'Upload of a file',
    how: 'an image in one request',
    units: { invocations: 1, rows_read: 4, rows_written: 8, bucket_writes: 1 },
  },
  idle_minute: {
    label: 'Minute in which nothing is due',
    how: 'the cron trigger of each minute, with all sweeps',
    units: { invocations: 1, rows_read: 99, rows_written: 1 },
  },
} satisfies Record<string, Act>

export type ActName = keyof typeof acts
