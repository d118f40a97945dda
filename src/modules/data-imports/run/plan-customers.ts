import type { JobCtx } from '../../../context.ts'
import { planUsers, type UserPlan, type UserRun } from '../../user-import/index.ts'
import { buildImportProblem, type ImportProblem } from './problems.ts'
import { type FileCustomer, numberCustomers, toCustomerProblem } from './read-customers.ts'
import { getImportSource, type RunSetting } from './setting.ts'

export interface PlannedCustomer {
  fileOrder: FileCustomer
  outcome: 'created' | 'updated' | 'skipped' | 'error'
  order_id: null
  user_id: string | null
  problems: readonly ImportProblem[]
  warnings: readonly ImportProblem[]
}

export const buildUserRun = (
  { row, edition, options, definitions }: RunSetting,
  { changeable, import_id }: Pick<UserRun, 'changeable' | 'import_id'>,
): UserRun => ({
  edition,
  source: getImportSource(row),
  import_id,
  changeable,
  definitions,
  emit_webhooks: options.emit_webhooks,
})

/** Without `create_users`, people who do not exist yet are refused. */
const unknownCustomer = (line: number): ImportProblem =>
  buildImportProblem(
    line,
    'customer.email',
    'does_not_exist',
    'The customer does not exist, and the option create_users is off.',
  )

/** Decides the customers of one transaction, for previews and imports. */
export async function planCustomers(
  ctx: JobCtx,
  setting: RunSetting,
  run: UserRun,
  fileCustomers: readonly FileCustomer[],
): Promise<{ customers: PlannedCustomer[]; plan: UserPlan }> {
  const entries = numberCustomers(fileCustomers)
  const firstPlan = await planUsers(ctx, run, entries)
  const isCreated = ({ outcome }: UserPlan['records'][number]) => outcome.action === 'created'
  const refusedIndexes = new Set(
    setting.options.create_users ? [] : firstPlan.records.filter(isCreated).map(({ outcome }) => outcome.index),
  )
  const plan =
    refusedIndexes.size === 0
      ? firstPlan
      : await planUsers(
          ctx,
          run,
          entries.filter(({ index }) => !refusedIndexes.has(index)),
        )
  const outcomes = new Map(plan.records.map(({ outcome }) => [outcome.index, outcome]))
  const customers = fileCustomers.map((fileOrder, index): PlannedCustomer => {
    const line = fileOrder.lines[0] ?? 0
    const outcome = outcomes.get(index)
    const base = { fileOrder, order_id: null, warnings: fileOrder.warnings }
    if (!outcome) {
      const problems = refusedIndexes.has(index) ? [unknownCustomer(line)] : fileOrder.problems
      return { ...base, outcome: 'error', user_id: null, problems }
    }
    const warnings = outcome.warnings.map((warning) => toCustomerProblem(line, warning))
    return {
      ...base,
      outcome: outcome.action,
      user_id: outcome.user_id,
      problems: [],
      warnings: [...fileOrder.warnings, ...warnings],
    }
  })
  return { customers, plan }
}
