import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import {
  decideSubscription,
  type ImportedUser,
  type SubscriptionDecision,
} from '../../domain/accounts/imported-users.ts'
import { type FieldError, fieldError } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import type { ChannelAddress, SuppressionReason } from '../../domain/messaging/suppressions.ts'
import { maxJsonBytes } from '../../domain/text/json.ts'
import {
  buildAnswerAnnouncements,
  buildAnswerStatements,
  type DecidedAnswer,
  decideImportedAnswers,
  hasReturned,
  type ImportDefinitions,
  type ImportedAnswers,
  listMarketingDefinitions,
} from '../consents/index.ts'
import {
  buildImportStatements,
  buildUserAnnouncements,
  loadPeopleState,
  PeopleResolver,
  type PersonUndo,
  type UserRow,
  type Write,
} from '../order-import/index.ts'
import { restoreSuppressions, selectSuppression, suppressListed } from '../suppressions/index.ts'
import { announceAll } from '../webhooks/index.ts'

/** The edition that customers join. Its id is null for customers of the organisation alone. */
export interface UserEdition {
  id: string | null
  organization_id: string
  default_language: Language
}

export interface UserRun {
  edition: UserEdition
  /** The name of the other system. */
  source: string
  import_id: string | null
  /** Editions whose customers the import may change; null for all editions of the organisation. */
  changeable: readonly string[] | null
  definitions: ImportDefinitions
  emit_webhooks: boolean
}

/** A customer with its place in the call or group. `path` leads to it in the request; empty for a row of a file. */
export interface UserEntry {
  index: number
  path: readonly PropertyKey[]
  user: ImportedUser
  warnings: readonly FieldError[]
}

export interface UserOutcome {
  index: number
  action: 'created' | 'updated' | 'skipped' | 'error'
  user_id: string | null
  errors: readonly FieldError[]
  warnings: readonly FieldError[]
}

/** A field of a customer before and after an import. */
export interface UserChange {
  field: string
  before: string | null
  after: string | null
}

interface UserRecord {
  outcome: UserOutcome
  /** What the import changes of a customer whom the caller knew before. */
  changes: readonly UserChange[]
  /** What an undo needs; null when nothing was written. */
  person: PersonUndo | null
}

export interface UserPlan {
  records: readonly UserRecord[]
  /** Empty when nothing is written. */
  statements: readonly Statement[]
  /** Returns a customer of the plan as they are afterwards. */
  getUser: (id: string) => UserRow
}

interface ResolvedEntry {
  entry: UserEntry
  userId: string
  subscription: SubscriptionDecision
}

const getAddress = ({ email, phone_number }: ImportedUser): ChannelAddress =>
  email === null ? { channel: 'sms', address: phone_number ?? '' } : { channel: 'email', address: email }

const listAddresses = (entries: readonly UserEntry[]): ChannelAddress[] =>
  entries.flatMap(({ user: { email, phone_number } }) => [
    ...(email === null ? [] : [{ channel: 'email' as const, address: email }]),
    ...(phone_number === null ? [] : [{ channel: 'sms' as const, address: phone_number }]),
  ])

/** The edition as the imports of orders know it. No edition has an empty id. */
const toContext = ({ edition }: UserRun, ctx: Pick<JobCtx, 'now' | 'newId'>) => ({
  edition: { ...edition, id: edition.id ?? '' },
  now: ctx.now(),
  newId: ctx.newId,
})

type Definitions = Awaited<ReturnType<typeof listMarketingDefinitions>>

/** Loads the consents that end with a subscription, by channel. A role of an edition ends those of the edition alone. */
async function loadEndedDefinitions(
  ctx: Pick<JobCtx, 'db'>,
  { edition, changeable }: UserRun,
  resolvedEntries: readonly ResolvedEntry[],
): Promise<ReadonlyMap<string, Definitions>> {
  const endedEntries = resolvedEntries.filter(({ subscription }) => subscription.ends_at !== null)
  const channels = [...new Set(endedEntries.map(({ entry }) => getAddress(entry.user).channel))]
  const place = { id: edition.id ?? '', organization_id: edition.organization_id }
  const lists = channels.map(
    async (channel) =>
      [channel, await listMarketingDefinitions(ctx.db, place, { channel, organization: changeable === null })] as const,
  )
  return new Map(await Promise.all(lists))
}

/** Lists the answers of a person. Only marketing ends with a subscription. */
function listAnswers(
  { definitions, source, edition }: UserRun,
  { entry: { user: importedUser }, subscription }: ResolvedEntry,
  user: UserRow,
  endedDefinitions: Definitions,
): ImportedAnswers[] {
  const base = {
    user: { id: user.id, email: edition.id === null ? user.email : (user.edition_values?.email ?? null) },
    address: user.email,
    is_protected: user.is_protected === 1,
    order_id: null,
    language: importedUser.locale,
  }
  const namedIds = new Set(subscription.changes.flatMap(({ key }) => definitions.get(key)?.id ?? []))
  const changes = subscription.changes.flatMap(({ key, status, at, is_undated, place }): ImportedAnswers[] => {
    const isMarketing = definitions.get(key)?.type === 'marketing'
    if (status === 'ended' && !isMarketing) return []
    const evidence = { source, ...(place === null ? {} : { place }) }
    const consents = { [key]: status === 'ended' || status === 'withdrawn' ? ('declined' as const) : status }
    return [{ ...base, at, is_undated, consents, evidence }]
  })
  const withdrawn_definitions = endedDefinitions.filter(({ id }) => !namedIds.has(id))
  if (subscription.ends_at === null || withdrawn_definitions.length === 0) return changes
  return [...changes, { ...base, at: subscription.ends_at, consents: {}, withdrawn_definitions, evidence: { source } }]
}

/** Customers of the organisation alone have no row of an edition. */
const listWrites = ({ edition }: UserRun, writes: readonly Write[]): Write[] =>
  edition.id !== null
    ? [...writes]
    : writes.flatMap((write): Write[] => {
        if (write.write === 'edition-customers') return []
        if (write.write !== 'insert') return [write]
        if (write.table === 'customers') return []
        return write.table === 'users'
          ? [{ ...write, rows: write.rows.map((row) => ({ ...row, is_of_organization: true })) }]
          : [write]
      })

/** Builds the statement by which customers of editions belong to the organisation, too. */
function joinOrganization({ edition }: UserRun, people: readonly UserRow[]): Statement[] {
  if (edition.id !== null) return []
  const ids = people.flatMap(({ id, is_of_organization }) => (is_of_organization ? [] : [id]))
  return ids.length === 0
    ? []
    : [sql`update users set is_of_organization = 1 where ${inList(sql`id`, ids)} and erased_at is null`]
}

interface Suppressions {
  statements: readonly Statement[]
  /** Addresses that were not suppressed before. */
  newAddresses: ReadonlySet<string>
}

interface SuppressedRow extends ChannelAddress {
  reason: SuppressionReason
  at: number
}

const buildAddressKey = ({ channel, address }: ChannelAddress): string => `${channel} ${address}`

/** True for a row of `listed` whose owner has come back since. */
const isBack = (organizationId: string): SQL => sql`(listed.value ->> 'reason' = 'unsubscribed'
  and ${hasReturned(organizationId, sql`listed.value ->> 'address'`, sql`listed.value ->> 'created_at'`)})`

/** Lists the addresses that the rows newly suppress. */
async function listNewAddresses(
  { db }: Pick<JobCtx, 'db'>,
  organization_id: string,
  rows: readonly SuppressedRow[],
): Promise<Set<string>> {
  const listedRows = rows.map(({ at, ...row }) => ({ ...row, created_at: at }))
  const [channel, address] = [sql`listed.value ->> 'channel'`, sql`listed.value ->> 'address'`]
  const newRows = await db.all(
    sql<ChannelAddress>`select ${channel} as channel, ${address} as address
      from json_each(${JSON.stringify(listedRows)}) as listed
      where not ${isBack(organization_id)}
        and ${selectSuppression('reason', { organization_id: sql`${organization_id}`, channel, address })} is null`,
  )
  return new Set(newRows.map(buildAddressKey))
}

/** Suppresses addresses for the whole organisation, unless their owners have come back since. */
async function decideSuppressions(
  ctx: Pick<JobCtx, 'db' | 'newId'>,
  { edition: { organization_id }, changeable }: UserRun,
  resolvedEntries: readonly ResolvedEntry[],
): Promise<Suppressions> {
  const rows = resolvedEntries.flatMap(({ entry, subscription: { suppression } }) =>
    suppression && changeable === null ? [{ ...getAddress(entry.user), ...suppression }] : [],
  )
  if (rows.length === 0) return { statements: [], newAddresses: new Set() }
  const statements = [...Map.groupBy(rows, ({ channel }) => channel)].flatMap(([channel, group]) => {
    const listedRows = group.map(({ address, reason, at }) => ({
      id: ctx.newId('suppression'),
      address,
      reason,
      detail: '',
      created_at: at,
    }))
    return suppressListed({ organization_id, channel }, listedRows, isBack(organization_id))
  })
  return { statements, newAddresses: await listNewAddresses(ctx, organization_id, rows) }
}

type Withdrawals = Awaited<ReturnType<typeof decideImportedAnswers>>['withdrawals']

interface PlanParts {
  people: PeopleResolver
  storedIds: ReadonlySet<string>
  answers: readonly DecidedAnswer[]
  withdrawals: Withdrawals
  suppressions: Suppressions
}

const contactNames = ['email', 'phone_number', 'first_name', 'last_name', 'locale'] as const

/** Lists the contact fields of the edition that an import changes, and metadata as JSON. */
function listContactChanges(person: PersonUndo | null): UserChange[] {
  const { before, after } = person?.edition_values ?? {}
  if (!before || !after) return []
  const describe = (values: typeof after) => ({ ...values, metadata: JSON.stringify(values.metadata) })
  const [oldValues, newValues] = [describe(before), describe(after)]
  return [...contactNames, 'metadata' as const].flatMap((field) =>
    oldValues[field] === newValues[field] ? [] : [{ field, before: oldValues[field], after: newValues[field] }],
  )
}

const listConsentChanges = (answers: readonly DecidedAnswer[]): UserChange[] =>
  answers.flatMap(({ definition, before, records }) => {
    const last = records.at(-1)
    return last ? [{ field: `consents.${definition.key}`, before: before?.status ?? null, after: last.status }] : []
  })

function warnAboutMetadata({ user, path }: UserEntry, { edition_values }: UserRow): FieldError[] {
  const storedMetadata = edition_values?.metadata ?? {}
  if (Object.keys(user.metadata).every((key) => Object.hasOwn(storedMetadata, key))) return []
  const detail = `The metadata of this customer would have more than ${maxJsonBytes} bytes, so those of this row are left out.`
  return [fieldError([...path, 'metadata'], 'max_length', detail)]
}

function warnAboutWithdrawals({ entry, userId }: ResolvedEntry, withdrawals: Withdrawals): FieldError[] {
  const { path, user } = entry
  const keys = new Set(withdrawals.flatMap(({ user_id, key }) => (user_id === userId ? [key] : [])))
  const detail = 'The person withdrew this consent. It is given again only with the time of a later answer.'
  return Object.entries(user.consents).flatMap(([key, { status, at }]) =>
    keys.has(key) && status === 'given' && at === null
      ? [fieldError([...path, 'consents', key], 'consent_withdrawn', detail)]
      : [],
  )
}

/** The first row of a person has the outcome. A later one completes it, and says so. */
function buildRecords(resolvedEntries: readonly ResolvedEntry[], parts: PlanParts): UserRecord[] {
  const { people, storedIds, answers, withdrawals, suppressions } = parts
  const answeringIds = new Set(answers.filter(({ records }) => records.length > 0).map(({ user }) => user.id))
  const firstEntries = new Map<string, UserEntry>()
  return resolvedEntries.map((resolvedEntry): UserRecord => {
    const { entry, userId } = resolvedEntry
    const { index, path } = entry
    const warnings = [
      ...entry.warnings,
      ...warnAboutMetadata(entry, people.get(userId)),
      ...warnAboutWithdrawals(resolvedEntry, withdrawals),
    ]
    const first = firstEntries.get(userId)
    const base = { index, user_id: userId, errors: [] }
    if (first) {
      const warning = fieldError(path, 'repeated_customer', 'An earlier row has the same customer.')
      return { outcome: { ...base, action: 'skipped', warnings: [...warnings, warning] }, person: null, changes: [] }
    }
    firstEntries.set(userId, entry)
    const person = people.recordChange(userId)
    const addressKey = buildAddressKey(getAddress(entry.user))
    const isChanged = person !== null || answeringIds.has(userId) || suppressions.newAddresses.has(addressKey)
    const action = storedIds.has(userId) ? (isChanged ? 'updated' : 'skipped') : 'created'
    const isSuppressed = suppressions.newAddresses.has(addressKey)
    const changes = [
      ...listContactChanges(person),
      ...listConsentChanges(answers.filter(({ user }) => user.id === userId)),
      ...(isSuppressed ? [{ field: 'suppression', before: null, after: entry.user.status }] : []),
    ]
    return { outcome: { ...base, action, warnings }, person, changes: action === 'updated' ? changes : [] }
  })
}

const emptyPlan: UserPlan = {
  records: [],
  statements: [],
  getUser: (id) => {
    throw new Error(`The plan has no customer ${id}.`)
  },
}

/**
 * Decides on customers, and builds the statements that write them with their consents, suppressions and events. When
 * another request was faster, the statements fail by a unique index of `races` or by a guard.
 */
export async function planUsers(ctx: JobCtx, run: UserRun, entries: readonly UserEntry[]): Promise<UserPlan> {
  const { edition, changeable, definitions, import_id, source } = run
  const { organization_id } = edition
  if (entries.length === 0) return emptyPlan
  const context = toContext(run, ctx)
  const scope = { organization_id, edition_id: context.edition.id, changeable }
  const state = await loadPeopleState(
    ctx.db,
    scope,
    entries.map(({ user }) => user),
  )
  const people = new PeopleResolver(context, state, 'complete')
  const resolvedEntries = entries.map((entry) => ({
    entry,
    userId: people.resolve({ ...entry.user, language: null }),
    subscription: decideSubscription(entry.user, context.now),
  }))
  const storedIds = listVisibleIds(run, state)
  const endedDefinitions = await loadEndedDefinitions(ctx, run, resolvedEntries)
  const { answers, withdrawals } = await decideImportedAnswers(
    ctx,
    { edition: context.edition, definitions, import_id, source, false_means_skipped: false },
    resolvedEntries.flatMap((one) =>
      listAnswers(run, one, people.get(one.userId), endedDefinitions.get(getAddress(one.entry.user).channel) ?? []),
    ),
  )
  const suppressions = await decideSuppressions(ctx, run, resolvedEntries)
  const writes = listWrites(run, people.buildWrites())
  const records = buildRecords(resolvedEntries, { people, storedIds, answers, withdrawals, suppressions })
  const joining = joinOrganization(
    run,
    resolvedEntries.map(({ userId }) => people.get(userId)),
  )
  const isUnchanged = [writes, answers, suppressions.statements, joining].every(({ length }) => length === 0)
  const announcements = [...buildUserAnnouncements(context, { writes }), ...answers.flatMap(buildAnswerAnnouncements)]
  return {
    records,
    getUser: (id) => people.get(id),
    statements: isUnchanged
      ? []
      : [
          ...joining,
          ...buildImportStatements({ ...scope, now: context.now }, writes),
          ...(await restoreSuppressions(organization_id, listAddresses(entries))),
          ...suppressions.statements,
          ...buildAnswerStatements(answers),
          ...(run.emit_webhooks ? announceAll(ctx, announcements) : []),
        ],
  }
}

/** Lists the customers whom the caller knew before. An edition does not learn whom other editions know. */
function listVisibleIds({ changeable }: UserRun, state: Awaited<ReturnType<typeof loadPeopleState>>): Set<string> {
  const users = [...state.usersByEmail.values(), ...state.usersByPhone.values()]
  return new Set(
    users.filter(({ edition_values }) => changeable === null || edition_values !== null).map(({ id }) => id),
  )
}
