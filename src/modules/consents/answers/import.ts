import { desc, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import type { Database } from '../../../db/database.ts'
import { consents, consentVersions } from '../../../db/schema/consents.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { chooseLanguage } from '../../../domain/consents/consents.ts'
import type { Language } from '../../../domain/languages.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'
import type { DefinitionRow } from '../queries.ts'
import type { GivenAnswer } from './double-opt-in.ts'
import {
  type DecidedAnswer,
  decideAnswerRecords,
  type AnsweringUser,
  type AnswerRequest,
  getEffectiveStatus,
  getLatestRecord,
  type RecordRow,
} from './records.ts'

const { consent_id, version, content_hash, created_at, text } = consentVersions
const versionColumns = { consent_id, version, content_hash, created_at, text }

type Version = RowOf<typeof versionColumns>

/** Definitions by key, each with all versions of its wording, newest first. */
export type ImportDefinitions = ReadonlyMap<string, DefinitionRow & { versions: readonly Version[] }>

interface AnswerEdition {
  id: string
  organization_id: string
  default_language: Language
}

/** Loads the definitions of these keys. The edition's own definition replaces the organisation's. */
export async function loadImportDefinitions(
  db: Database,
  edition: AnswerEdition,
  keys: readonly string[],
): Promise<ImportDefinitions> {
  if (keys.length === 0) return new Map()
  const isApplicable = sql`organization_id = ${edition.organization_id} and coalesce(edition_id, '') in ('', ${edition.id})
    and ${inList(sql`key`, keys)}`
  const [rows, versions] = await db.batch([
    select(getTableColumns(consents))
      .from(consents)
      .where(isApplicable)
      .orderBy(sql`edition_id is not null`),
    select(versionColumns)
      .from(consentVersions)
      .where(sql`consent_id in (select id from consents where ${isApplicable})`)
      .orderBy(desc(version)),
  ])
  const versionsByConsent = Map.groupBy(versions, (row) => row.consent_id)
  return new Map(rows.map((row) => [row.key, { ...row, versions: versionsByConsent.get(row.id) ?? [] }]))
}

/** `declined`: withdrawn if the consent was given before, and otherwise skipped. */
export type ImportedStatus = 'given' | 'skipped' | 'withdrawn' | 'declined'

/** The answers in one imported order or row. */
export interface ImportedAnswers {
  user: AnsweringUser
  /** The address to which the person gets mail. */
  address: string | null
  /** The person also belongs to editions whose customers the importing caller may not change. */
  is_protected: boolean
  order_id: string | null
  /** Milliseconds since 1970, UTC. */
  at: number
  /** True if the source does not say when the person answered. Such an answer gives nothing that was withdrawn. */
  is_undated?: boolean
  language: Language | null
  /** By key of the definition. */
  consents: Readonly<Record<string, boolean | ImportedStatus>>
  /** Definitions whose consents are withdrawn if they were given. */
  withdrawn_definitions?: readonly DefinitionRow[]
  evidence: Readonly<Record<string, unknown>>
}

export interface AnswerImport {
  edition: AnswerEdition
  definitions: ImportDefinitions
  import_id: string | null
  source: string
  /** True if a false value means that the person was asked and did not agree. Otherwise it means nothing. */
  false_means_skipped: boolean
}

interface Question {
  definition: ImportDefinitions extends ReadonlyMap<string, infer Definition> ? Definition : never
  status: ImportedStatus
  importedAnswers: ImportedAnswers
}

/** Null for a false value that means nothing. */
function readStatus(value: boolean | ImportedStatus, falseMeansSkipped: boolean): ImportedStatus | null {
  if (typeof value === 'string') return value
  if (value) return 'given'
  return falseMeansSkipped ? 'skipped' : null
}

const endsConsent = ({ status }: Question): boolean => status === 'withdrawn' || status === 'declined'

/**
 * Lists the answers that the import may record, sorted by time. A withdrawal comes after the consent of the same time that
 * it ends, in whichever order the rows are.
 */
function listQuestions(
  { definitions, false_means_skipped }: AnswerImport,
  answers: readonly ImportedAnswers[],
): Question[] {
  const questions = answers.flatMap((importedAnswers): Question[] => {
    const { consents: values, withdrawn_definitions = [], is_protected } = importedAnswers
    const namedQuestions = Object.entries(values).flatMap(([key, value]): Question[] => {
      const definition = definitions.get(key)
      const status = readStatus(value, false_means_skipped)
      return definition && status ? [{ definition, status, importedAnswers }] : []
    })
    const withdrawals = withdrawn_definitions.map((definition): Question => ({
      definition: { ...definition, versions: [] },
      status: 'withdrawn',
      importedAnswers,
    }))
    // The organisation's consent counts in editions that the caller may not change, so this answer is left out.
    return [...namedQuestions, ...withdrawals].filter(
      ({ definition }) => definition.edition_id !== null || !is_protected,
    )
  })
  return questions.toSorted(
    (one, other) =>
      one.importedAnswers.at - other.importedAnswers.at || Number(endsConsent(one)) - Number(endsConsent(other)),
  )
}

function buildAnswerRequest(
  answerImport: AnswerImport,
  { definition, status, importedAnswers }: Question,
  before: RecordRow | null,
): AnswerRequest & { wording: Version | null } {
  const wording =
    definition.versions.find((candidate) => candidate.created_at <= importedAnswers.at) ?? definition.versions.at(-1)
  const texts = wording?.text ?? definition.text
  const fallback = answerImport.edition.default_language
  return {
    status: status === 'declined' ? (before === null ? 'skipped' : 'withdrawn') : status,
    at: importedAnswers.at,
    method: 'import',
    source: 'import',
    language: chooseLanguage(texts, importedAnswers.language ?? fallback, fallback),
    edition_id: answerImport.edition.id,
    order_id: importedAnswers.order_id,
    import_id: answerImport.import_id,
    evidence: { source: answerImport.source, ...importedAnswers.evidence },
    wording: wording ?? null,
  }
}

/** A withdrawal also counts at the time of the consent that it ends. */
function isLater(question: Question, { occurred_at }: RecordRow): boolean {
  const { at } = question.importedAnswers
  return at > occurred_at || (at === occurred_at && endsConsent(question))
}

const staysWithdrawn = ({ status, importedAnswers }: Question, before: RecordRow | null): boolean =>
  importedAnswers.is_undated === true &&
  status === 'given' &&
  before !== null &&
  getEffectiveStatus(before) === 'withdrawn'

const buildChainKey = (userId: string, consentId: string): string => `${userId} ${consentId}`

async function loadLatestRecords(db: Database, questions: readonly Question[]): Promise<Map<string, RecordRow>> {
  const pairs = questions.map(({ importedAnswers, definition }) => [importedAnswers.user.id, definition.id])
  const rows = await db.all(
    sql<RecordRow>`select r.* from (select distinct value ->> 0 as user_id, value ->> 1 as consent_id
        from json_each(${JSON.stringify(pairs)})) as pairs
      cross join consent_records r on r.user_id = pairs.user_id and r.consent_id = pairs.consent_id and r.is_latest = 1`,
  )
  return new Map(rows.map((row) => [buildChainKey(row.user_id, row.consent_id), row]))
}

interface DecidedImport {
  /** The answers that add records, for `buildAnswerStatements` and `buildAnswerAnnouncements`. */
  answers: DecidedAnswer[]
  /** Consents that the orders give, also those that were given before. */
  givenAnswers: GivenAnswer[]
  /** Consents that stay withdrawn, because nobody knows whether the person agreed before or after. */
  withdrawals: { user_id: string; key: string }[]
}

/**
 * Decides on the answers of an import. An answer that is not later than the person's latest one changes nothing, so an
 * import never takes a withdrawal back.
 */
export async function decideImportedAnswers(
  ctx: Pick<JobCtx, 'db' | 'newId'>,
  answerImport: AnswerImport,
  answers: readonly ImportedAnswers[],
): Promise<DecidedImport> {
  const questions = listQuestions(answerImport, answers)
  if (questions.length === 0) return { answers: [], givenAnswers: [], withdrawals: [] }
  const storedRecords = await loadLatestRecords(ctx.db, questions)
  const chains = new Map<string, DecidedAnswer>()
  const givenAnswers = new Map<string, GivenAnswer>()
  const withdrawals: DecidedImport['withdrawals'] = []
  for (const question of questions) {
    const { definition, importedAnswers } = question
    const key = buildChainKey(importedAnswers.user.id, definition.id)
    const chain = chains.get(key)
    const before = chain ? getLatestRecord(chain) : (storedRecords.get(key) ?? null)
    if (before !== null && !isLater(question, before)) continue
    if (staysWithdrawn(question, before)) {
      withdrawals.push({ user_id: importedAnswers.user.id, key: definition.key })
      continue
    }
    const { wording, ...answer } = buildAnswerRequest(answerImport, question, before)
    const answeredVersion = wording && { wording_version: wording.version, content_hash: wording.content_hash }
    const subject = { definition: { ...definition, ...answeredVersion }, user: importedAnswers.user, before }
    const outcome = await decideAnswerRecords(ctx, subject, answer)
    const record = getLatestRecord(outcome)
    if (record?.status === 'given' && question.status === 'given')
      givenAnswers.set(key, { definition, address: importedAnswers.address, record, at: importedAnswers.at })
    if (outcome.records.length === 0) continue
    const records = [...(chain?.records ?? []), ...outcome.records]
    chains.set(key, { ...outcome, before: chain ? chain.before : before, records })
  }
  return { answers: [...chains.values()], givenAnswers: [...givenAnswers.values()], withdrawals }
}

/**
 * Lists the consents to marketing through a channel that an edition has, and with `organization` also those of its
 * organisation.
 */
export const listMarketingDefinitions = (
  db: Database,
  edition: Pick<AnswerEdition, 'id' | 'organization_id'>,
  scope: { channel: Channel; organization: boolean },
): Promise<DefinitionRow[]> =>
  db.all(
    select(getTableColumns(consents)).from(consents).where(sql`organization_id = ${edition.organization_id}
      and (edition_id = ${edition.id}${scope.organization ? sql` or edition_id is null` : sql``}) and type = 'marketing'
      and exists (select 1 from json_each(channels) where value = ${scope.channel})`),
  )

/**
 * Lists the active consents of an edition. The edition's own definition replaces the organisation's of the same key.
 */
export async function listConsentsInEdition(
  db: Database,
  edition: Pick<AnswerEdition, 'id' | 'organization_id'>,
): Promise<Pick<DefinitionRow, 'key' | 'name' | 'type' | 'edition_id'>[]> {
  const rows = await db.all(
    select({
      key: consents.key,
      name: consents.name,
      type: consents.type,
      edition_id: consents.edition_id,
      is_active: consents.is_active,
    })
      .from(consents)
      .where(sql`organization_id = ${edition.organization_id} and coalesce(edition_id, '') in ('', ${edition.id})`)
      .orderBy(sql`edition_id is not null`),
  )
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return [...byKey.values()].filter(({ is_active }) => is_active)
}
