import { setTimeout as wait } from 'node:timers/promises'
import type { components } from '../../src/index.ts'
import type { ImportJob } from './job.ts'

export type Preview = components['schemas']['ImportPreview']
type PreviewOrder = components['schemas']['ImportPreviewOrder']

const firstOrders = 10
const firstProblems = 5
const countPollMs = 1000

const loadPreview = async ({ context, id }: ImportJob, query: object): Promise<Preview> =>
  (await context.client.GET('/v1/data-imports/{id}/preview', { params: { path: { id }, query } })).data

/** Loads what the import would do. The orders of a large file are counted in the background. */
export async function previewImport(job: ImportJob): Promise<Preview> {
  const progress = job.context.output.progress('Counting what the import would do')
  try {
    for (;;) {
      const preview = await loadPreview(job, { page_size: firstOrders })
      if (preview.totals_state !== 'counting') return preview
      await wait(countPollMs)
    }
  } finally {
    progress.stop()
  }
}

const verbs = {
  create: 'to create',
  update: 'to update',
  skip: 'to skip, because they exist',
  error: 'with errors',
  ignore: 'to leave out',
}

export const describeTotals = ({ totals }: Preview): string =>
  (Object.keys(verbs) as (keyof typeof verbs)[])
    .filter((action) => (totals?.[action] ?? 0) > 0)
    .map((action) => `${totals?.[action]} ${verbs[action]}`)
    .join(', ')

/** Shows the counts, the first orders and the first problems of a preview. */
export async function showPreview(job: ImportJob, preview: Preview): Promise<void> {
  const { output } = job.context
  if (output.isTable) output.rows(preview.results.map(toRow), ['action', 'order', 'customer', 'amount', 'problem'])
  output.note(`${preview.total_orders} ${job.options.kind}: ${describeTotals(preview) || 'nothing to do'}.`)
  for (const { message } of preview.warnings) output.note(message)
  for (const { row, message } of await listProblems(job, preview)) output.note(`Line ${row}: ${message}`)
}

async function listProblems(job: ImportJob, { totals }: Preview) {
  if (!totals?.error) return []
  const { results } = await loadPreview(job, { action: 'error', page_size: firstProblems })
  return results.flatMap(({ errors }) => errors).slice(0, firstProblems)
}

const toRow = ({ action, order_number, external_id, customer, amount, currency, errors, warnings }: PreviewOrder) => ({
  action,
  order: order_number ?? external_id,
  customer: customer?.email ?? customer?.full_name,
  amount: amount === null ? null : `${amount} ${currency ?? ''}`,
  problem: (errors[0] ?? warnings[0])?.message,
})
