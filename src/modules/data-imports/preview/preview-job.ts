import { and, eq, isNull, sql } from 'drizzle-orm'
import type { ImportPreviewMessage, JobCtx } from '../../../context.ts'
import { requireOneChange, commitPart } from '../../../db/commit.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import { LostRace } from '../../../domain/errors.ts'
import { importFields, type ImportRow } from '../background/steps.ts'
import { actionOf, decideOrders, previewSetting } from './preview.ts'
import { findCounted, lettersOf, ordersAPart } from './preview-counts.ts'

/** Imports whose orders are counted: they wait for their start. */
export const countedStatuses = ['mapping_products', 'ready'] as const

/** Claims the counting at the progress that the message has; null when another consumer has it. Answers the time of the claim. */
async function claim(job: JobCtx, { import_id, version, seen }: ImportPreviewMessage): Promise<number | null> {
  const now = Math.max(job.now(), (seen ?? 0) + 1)
  const [taken] = await job.db.all(
    seen === null
      ? sql<{
          created_at: number
        }>`insert into import_previews (import_id, part, version, last_number, actions, created_at)
          values (${import_id}, 0, ${version}, 0, '', ${now})
          on conflict (import_id, part) do update set version = excluded.version, created_at = excluded.created_at
            where import_previews.version <> excluded.version returning created_at`
      : sql<{ created_at: number }>`update import_previews set created_at = ${now}
          where import_id = ${import_id} and part = 0 and version = ${version} and created_at = ${seen}
          returning created_at`,
  )
  return taken?.created_at ?? null
}

/** Deletes the rows of an earlier version, or of totals that are too old. */
const forgetParts = (job: JobCtx, importId: string) =>
  job.db.batch([sql`delete from import_previews where import_id = ${importId} and part > 0`])

const findRow = (job: JobCtx, id: string, version: number) =>
  job.db.first(
    select(importFields)
      .from(dataImports)
      .where(
        and(
          eq(dataImports.id, id),
          eq(dataImports.version, version),
          isNull(dataImports.phase),
          inList(sql`${dataImports.status}`, countedStatuses),
        ),
      ),
  )

/** Decides on the orders of an import as a preview does, part by part, and stores the action of each. */
export async function countPreview(job: JobCtx, message: ImportPreviewMessage, endsAt: number): Promise<void> {
  const { import_id, version } = message
  const row = await findRow(job, import_id, version)
  let seen = row ? await claim(job, message) : null
  if (!row || seen === null) return
  const isAnew = message.seen === null || (await isComplete(job, row))
  if (isAnew) await forgetParts(job, import_id)
  const setting = await previewSetting(job, row, null)
  for (;;) {
    const { last_number, parts } = await findCounted(job.db, row, job.now())
    const orders = await decideOrders(job, setting, { after: last_number, limit: ordersAPart })
    if (orders.length === 0) return
    const letters = orders.map((order) => ({ number: order.planned.read.row.number, action: actionOf(order) }))
    const next = Math.max(job.now(), seen + 1)
    const part = { number: parts + 1, last: letters.at(-1)?.number ?? 0, actions: lettersOf(last_number, letters) }
    if (!(await commitCounted(job, row, part, { seen, next }))) return
    seen = next
    if (job.now() >= endsAt)
      return job.jobQueue.enqueue('imports', [{ type: 'import.preview', import_id, version, seen }])
  }
}

async function isComplete(job: JobCtx, row: ImportRow): Promise<boolean> {
  const { totals } = await findCounted(job.db, row, job.now())
  return Object.values(totals).reduce((sum, count) => sum + count, 0) === row.total_orders
}

interface PreviewPart {
  number: number
  last: number
  actions: string
}

/** False when another consumer has taken over the counting. */
async function commitCounted(
  job: JobCtx,
  { id, version }: ImportRow,
  part: PreviewPart,
  { seen, next }: { seen: number; next: number },
): Promise<boolean> {
  try {
    await commitPart(job, [
      sql`update import_previews set created_at = ${next}
        where import_id = ${id} and part = 0 and version = ${version} and created_at = ${seen}`,
      requireOneChange(),
      sql`insert into import_previews (import_id, part, version, last_number, actions, created_at)
        values (${id}, ${part.number}, ${version}, ${part.last}, ${part.actions}, ${next})`,
    ])
    return true
  } catch (error) {
    if (error instanceof LostRace) return false
    throw error
  }
}
