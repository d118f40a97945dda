import type { z } from '@hono/zod-openapi'
import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { listChangeableEditions } from '../../../db/customers.ts'
import type { Statement } from '../../../db/database.ts'
import { dataImports, importOrders } from '../../../db/schema/data-imports.ts'
import { editions } from '../../../db/schema/editions.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { insert, insertAll } from '../../../db/write.ts'
import { undoDays } from '../../../domain/data-imports/data-imports.ts'
import { AppError, editionArchived, fieldError } from '../../../domain/errors.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { loadImportDefinitions } from '../../consents/index.ts'
import { checkTenant, openEditions } from '../../editions/index.ts'
import { races } from '../../order-import/index.ts'
import {
  checkUser,
  normalizeUserPhone,
  parseImportedUser,
  planUsers,
  type UserEntry,
  type UserOutcome,
  type UserPlan,
} from '../../user-import/index.ts'
import { announceEnd } from '../announcement.ts'
import { buildCallFields } from '../call-fields.ts'
import { decideStatus } from '../external-orders/report.ts'
import type { ImportUsersInput, UsersImport } from './contract.ts'
import { createUndoData } from './undo-data.ts'

const editionFields = {
  id: editions.id,
  organization_id: editions.organization_id,
  default_language: editions.default_language,
  default_country_code: editions.default_country_code,
  is_archived: editions.is_archived,
}

type CallEdition = RowOf<typeof editionFields>

async function findEdition(ctx: Ctx, { organization_id, edition_id }: ImportUsersInput): Promise<CallEdition> {
  await checkTenant(ctx, organization_id, edition_id)
  const edition = await ctx.db.first(
    select(editionFields)
      .from(editions)
      .where(and(eq(editions.id, edition_id), eq(editions.organization_id, organization_id))),
  )
  if (!edition || edition.is_archived) throw editionArchived()
  return edition
}

type ParsedUser = UserEntry | UserOutcome

function parseUser(raw: unknown, index: number, countryCode: string): ParsedUser {
  const path = ['users', index]
  const refuse = (errors: UserOutcome['errors']): UserOutcome => ({
    index,
    action: 'error',
    user_id: null,
    errors,
    warnings: [],
  })
  const parseResult = parseImportedUser(raw, path)
  if ('errors' in parseResult) return refuse(parseResult.errors)
  const { user, errors, warnings } = normalizeUserPhone(parseResult.user, countryCode, path)
  if (errors.length) return refuse(errors)
  const { unsupported_locale: locale } = parseResult
  if (locale === null) return { index, path, user, warnings }
  const detail = `The language ${locale.slice(0, 60)} is not supported, so a new customer gets that of the edition.`
  return {
    index,
    path,
    user,
    warnings: [...warnings, fieldError([...path, 'locale'], 'unsupported_language', detail)],
  }
}

interface ParsedUsers {
  entries: UserEntry[]
  refusals: UserOutcome[]
  definitions: Awaited<ReturnType<typeof loadImportDefinitions>>
}

/** An answer has at most this many errors of a customer. */
const maxFaults = 20

async function parseUsers(
  ctx: Ctx,
  edition: CallEdition,
  input: ImportUsersInput,
  isOfOrganization: boolean,
): Promise<ParsedUsers> {
  const parsedUsers = input.users.map((raw, index) => parseUser(raw, index, edition.default_country_code))
  const keys = parsedUsers.flatMap((one) => ('user' in one ? Object.keys(one.user.consents) : []))
  const definitions = await loadImportDefinitions(ctx.db, edition, [...new Set(keys)])
  const scope = { definitions, is_of_organization: isOfOrganization, now: ctx.now() }
  const checkedUsers = parsedUsers.map((one): ParsedUser => {
    if (!('user' in one)) return one
    const errors = checkUser(scope, one.user, one.path)
    return errors.length === 0 ? one : { index: one.index, action: 'error', user_id: null, errors, warnings: [] }
  })
  return {
    definitions,
    entries: checkedUsers.filter((one) => 'user' in one),
    refusals: checkedUsers
      .filter((one) => 'action' in one)
      .map((one) => ({ ...one, errors: one.errors.slice(0, maxFaults) })),
  }
}

interface UsersReport {
  /** Null for a dry run. */
  id: string | null
  edition: CallEdition
  input: ImportUsersInput
  results: readonly UserOutcome[]
  now: number
}

const countAction = ({ results }: UsersReport, action: UserOutcome['action']): number =>
  results.filter((one) => one.action === action).length

const getStatus = (report: UsersReport) => decideStatus(countAction(report, 'error'), report.results.length)

function buildImportStatements(ctx: Ctx, report: UsersReport & { id: string }, plan: UserPlan): Statement[] {
  const { id, edition, input, results, now } = report
  const [created_orders, updated_orders] = [countAction(report, 'created'), countAction(report, 'updated')]
  const row = {
    id,
    kind: 'customers' as const,
    ...buildCallFields(ctx, edition, input.source, now),
    status: getStatus(report),
    options: { emit_webhooks: input.emit_webhooks },
    total_rows: results.length,
    created_orders,
    updated_orders,
    skipped_orders: countAction(report, 'skipped'),
    failed_orders: countAction(report, 'error'),
    undo_until: created_orders + updated_orders > 0 ? now + undoDays * dayMs : null,
    created_at: now,
    modified_at: now,
  }
  const records = plan.records.flatMap((record) => {
    const { index, action, user_id } = record.outcome
    return action === 'created' || action === 'updated'
      ? [
          {
            import_id: id,
            number: index + 1,
            rows_count: 1,
            outcome: action,
            user_id,
            undo_data: JSON.stringify(createUndoData(record)),
          },
        ]
      : []
  })
  return [
    insert(dataImports, row),
    ...insertAll(importOrders, records),
    ...(input.emit_webhooks ? announceEnd(ctx, row, row.status) : []),
  ]
}

const hideNewUsers = (results: readonly UserOutcome[]): UserOutcome[] =>
  results.map((one) => (one.action === 'created' ? { ...one, user_id: null } : one))

/** Imports customers in one transaction. Customers with errors are left out. */
export async function importUsers(ctx: Ctx, input: ImportUsersInput): Promise<UsersReport> {
  const edition = await findEdition(ctx, input)
  const changeable = listChangeableEditions(ctx.caller, edition.organization_id)
  const { entries, refusals, definitions } = await parseUsers(ctx, edition, input, changeable === null)
  const { source, dry_run, emit_webhooks } = input
  const id = ctx.newId('data_import')
  const run = { edition, source, import_id: id, changeable, definitions, emit_webhooks }
  const plan = await planUsers(ctx, run, entries)
  const results = [...refusals, ...plan.records.map(({ outcome }) => outcome)].toSorted((a, b) => a.index - b.index)
  const report = { id, edition, input, results, now: ctx.now() }
  if (dry_run) return commit(ctx, { ...report, id: null, results: hideNewUsers(results) }, [])
  const statements = [...openEditions(edition.id), ...buildImportStatements(ctx, report, plan), ...plan.statements]
  return commit(ctx, report, statements, races)
}

export function presentUsersImport(report: UsersReport): z.input<typeof UsersImport> {
  const { id, input, results } = report
  return {
    id,
    status: getStatus(report),
    dry_run: input.dry_run,
    total_rows: results.length,
    created_users: countAction(report, 'created'),
    updated_users: countAction(report, 'updated'),
    skipped_users: countAction(report, 'skipped'),
    failed_users: countAction(report, 'error'),
    results: results.map((one) => ({ ...one, errors: [...one.errors], warnings: [...one.warnings] })),
  }
}

/** An answer has at most this many errors, and every customer has one of them. */
const maxErrors = 100

/** A call whose customers were all refused answers an error, so that a client notices it by the status. */
export function buildUsersRefusal(report: UsersReport): AppError | null {
  if (getStatus(report) !== 'failed') return null
  const { results, ...data_import } = presentUsersImport(report)
  const errorsPerUser = Math.max(1, Math.floor(maxErrors / results.length))
  const errors = results.flatMap((one) => one.errors.slice(0, errorsPerUser))
  const detail = `${results.length === 1 ? 'The customer is' : 'All customers are'} refused. ${errors[0]?.detail ?? ''}`
  return new AppError('users_refused', detail, { errors, extra: { data_import, results } })
}
