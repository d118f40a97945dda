import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless, addAfterCommit, commitPart } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { insert, updateVersion } from '../../../db/write.ts'
import { listChanges } from '../../../domain/audit.ts'
import { undoDays } from '../../../domain/data-imports/data-imports.ts'
import type { StoredResult } from '../../../domain/orders/external-orders.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import type { GroupPlan, GroupRecord, OrderOutcome } from '../../order-import/index.ts'
import { enqueueEmails } from '../../transactional-emails/index.ts'
import { announceEnd } from '../announcement.ts'
import { importExternalOrders } from './contract.ts'
import { presentImport } from './present.ts'
import { buildReport, type ImportReport, type ReportedCall } from './report.ts'
import { buildUndoRecords } from './undo-records.ts'

/** Outcomes that are known before the first order is written: what earlier requests stored, and what cannot be read. */
export interface CallStart {
  outcomes: readonly OrderOutcome[]
  /** The version of the stored import; null when the call has stored none yet. */
  version: number | null
}

const maxFaults = 20

export const limitFaults = (outcome: OrderOutcome): OrderOutcome => ({
  ...outcome,
  errors: outcome.errors.slice(0, maxFaults),
  warnings: outcome.warnings.slice(0, maxFaults),
})

const listStoredResults = (results: readonly OrderOutcome[]): StoredResult[] =>
  results
    .filter(({ action }) => action === 'created' || action === 'updated')
    .map(({ index, action, order_id, warnings }) => ({ index, action, order_id, warnings }))

/** Numbers that rise with every group, so an audit entry of the first group would be wrong about them. */
const progressFields = ['status', 'created_orders', 'updated_orders', 'skipped_orders', 'failed_orders']

/**
 * Records a call in the transactions of its groups. The first one stores the import with its audit entry, each one the
 * counts, and the last one the answer to the Idempotency-Key. A call of one group is one transaction.
 */
export class CallRecord {
  readonly #ctx: Ctx
  readonly #call: ReportedCall & { id: string }
  #outcomes: readonly OrderOutcome[]
  #version: number | null

  constructor(ctx: Ctx, call: ReportedCall & { id: string }, { outcomes, version }: CallStart) {
    this.#ctx = ctx
    this.#call = call
    this.#outcomes = outcomes
    this.#version = version
  }

  report(): ImportReport {
    return buildReport(this.#ctx, this.#call, this.#outcomes)
  }

  /** Records a call that has no order left to write. */
  async finish(): Promise<void> {
    const { statements, confirm } = await this.record({ outcomes: [], statements: [] })
    await commitPart(this.#ctx, statements)
    confirm()
  }

  async record(plan: Pick<GroupPlan, 'outcomes' | 'statements'> & Partial<GroupPlan>): Promise<GroupRecord> {
    const { outcomes: newOutcomes, statements: writes, decision } = plan
    const outcomes = [...this.#outcomes, ...newOutcomes.map(limitFaults)]
    const isLast = outcomes.length === this.#call.input.orders.length
    const isRecorded = isLast || writes.length > 0
    return {
      statements: isRecorded
        ? [
            ...(await this.#buildStatements(outcomes, isLast)),
            ...(decision ? buildUndoRecords(this.#call.id, decision) : []),
          ]
        : [],
      confirm: () => {
        this.#outcomes = outcomes
        if (isRecorded) this.#version = (this.#version ?? 0) + 1
      },
    }
  }

  async #buildStatements(outcomes: readonly OrderOutcome[], isLast: boolean): Promise<Statement[]> {
    const { id, input } = this.#call
    const report = buildReport(this.#ctx, this.#call, outcomes)
    const { row } = report
    return [
      ...this.#buildImportStatements(report, isLast),
      ...(isLast && input.emit_webhooks ? announceEnd(this.#ctx, { ...row, id }, row.status) : []),
      ...(this.#version === null ? [this.#buildAuditEntry(report, isLast)] : []),
      ...(isLast ? await this.#ctx.recordWrite(report, false) : []),
    ]
  }

  #buildImportStatements({ row, results }: ImportReport, isLast: boolean): Statement[] {
    const { id, input } = this.#call
    const { resumeKey } = this.#ctx
    const columns = {
      ...row,
      id,
      status: isLast ? row.status : ('importing' as const),
      resume_key: isLast ? null : resumeKey,
      undo_until: isLast && row.created_orders + row.updated_orders > 0 ? row.modified_at + undoDays * dayMs : null,
      // Orders that are refused or skipped are decided again by a repetition.
      stored_results: isLast ? null : listStoredResults(results),
      error_code: null,
      error_message: null,
    }
    const withEmails = (statement: Statement): Statement =>
      input.send_receipts ? addAfterCommit(statement, () => enqueueEmails(this.#ctx)) : statement
    if (this.#version === null) {
      // Another request with the same key may have stored the import since this one began.
      const isFirst = abortUnless(sql`not exists (select 1 from data_imports where resume_key = ${resumeKey})`)
      return [isFirst, withEmails(insert(dataImports, { ...columns, version: 1 }))]
    }
    // A change of `id` would make SQLite read all rows of the import, even if the value stays.
    const { id: _id, created_at: _createdAt, ...changes } = columns
    const [change, ...guards] = updateVersion(dataImports, { id, version: this.#version }, changes)
    return [withEmails(change), ...guards]
  }

  #buildAuditEntry(report: ImportReport, isLast: boolean): Statement {
    const { edition } = this.#call
    const changes = listChanges(null, presentImport(report, this.#ctx))
    return this.#ctx.recordAudit({
      action: importExternalOrders.id,
      organization_id: edition.organization_id,
      edition_id: edition.id,
      resource_type: 'data_import',
      resource_id: this.#call.id,
      changes: isLast ? changes : changes.filter(({ field }) => !progressFields.includes(field)),
    })
  }
}
