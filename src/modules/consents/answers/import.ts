import { desc, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Database } from '../../../db/database.ts'
import { consents, consentVersions } from '../../../db/schema/consents.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import { shownLanguage } from '../../../domain/consents/consents.ts'
import type { Language } from '../../../domain/languages.ts'
import type { DefinitionRow } from '../queries.ts'
import {
  type DecidedAnswer,
  answered,
  type AnsweringUser,
  type AskedAnswer,
  latestOf,
  type RecordRow,
} from './records.ts'

const { consent_id, version, content_hash, created_at, text } = consentVersions
const versionColumns = { consent_id, version, content_hash, created_at, text }

type Version = RowOf<typeof versionColumns>

/** The definitions that an import names by their keys, each with all its wordings, newest first. */
export type ImportDefinitions = ReadonlyMap<string, DefinitionRow & { versions: readonly Version[] }>

interface AnswerEdition {
  id: string
  organization_id: string
  default_language: Language
}

/** By key: the edition's own definition replaces the organisation's. Keys without one are left out. */
export async function importDefinitions(
  db: Database,
  edition: AnswerEdition,
  keys: readonly string[],
): Promise<ImportDefinitions> {
  if (keys.length === 0) return new Map()
  const isMeant = sql`organization_id = ${edition.organization_id} and coalesce(edition_id, '') in ('', ${edition.id})
    and ${inList(sql`key`, keys)}`
  const [rows, versions] = await db.batch([
    select(getTableColumns(consents))
      .from(consents)
      .where(isMeant)
      .orderBy(sql`edition_id is not null`),
    select(versionColumns)
      .from(consentVersions)
      .where(sql`consent_id in (select id from consents where ${isMeant})`)
      .orderBy(desc(version)),
  ])
  const byConsent = Map.groupBy(versions, (row) => row.consent_id)
  return new Map(rows.map((row) => [row.key, { ...row, versions: byConsent.get(row.id) ?? [] }]))
}

/** The answers to consents in one order, or in one row of a file. */
export interface ImportedAnswers {
  user: AnsweringUser
  /** The person belongs to editions whose customers the importing caller may not change. */
  is_kept: boolean
  order_id: string
  /** Milliseconds since 1970, UTC. */
  at: number
  language: Language | null
  consents: Readonly<Record<string, boolean>>
  /** The id of the order in the source. */
  evidence: Readonly<Record<string, unknown>>
}

export interface AnswerImport {
  edition: AnswerEdition
  definitions: ImportDefinitions
  import_id: string | null
  source: string
  /** False means that the question was shown and not agreed to; otherwise it says nothing. */
  skipped: boolean
}

interface Question {
  definition: ImportDefinitions extends ReadonlyMap<string, infer Definition> ? Definition : never
  isGiven: boolean
  given: ImportedAnswers
}

/** The answers that an import may bring, in the order of their times. */
function questionsOf({ definitions, skipped }: AnswerImport, answers: readonly ImportedAnswers[]): Question[] {
  const questions = answers.flatMap((given) =>
    Object.entries(given.consents).flatMap(([key, isGiven]): Question[] => {
      const definition = definitions.get(key)
      if (!definition || (!isGiven && !skipped)) return []
      // A consent of all editions is not changed for a person of editions that the caller may not change.
      return definition.edition_id === null && given.is_kept ? [] : [{ definition, isGiven, given }]
    }),
  )
  return questions.toSorted((one, other) => one.given.at - other.given.at)
}

function answerOf(
  run: AnswerImport,
  { definition, isGiven, given }: Question,
): AskedAnswer & { wording: Version | null } {
  const wording = definition.versions.find((one) => one.created_at <= given.at) ?? definition.versions.at(-1)
  const texts = wording?.text ?? definition.text
  const fallback = run.edition.default_language
  return {
    status: isGiven ? 'given' : 'skipped',
    at: given.at,
    method: 'import',
    source: 'import',
    language: shownLanguage(texts, given.language ?? fallback, fallback),
    edition_id: run.edition.id,
    order_id: given.order_id,
    import_id: run.import_id,
    evidence: { source: run.source, ...given.evidence },
    wording: wording ?? null,
  }
}

const chainKey = (userId: string, consentId: string): string => `${userId} ${consentId}`

async function latestRecords(db: Database, questions: readonly Question[]): Promise<Map<string, RecordRow>> {
  const pairs = questions.map(({ given, definition }) => [given.user.id, definition.id])
  const rows = await db.all(
    sql<RecordRow>`select r.* from (select distinct value ->> 0 as user_id, value ->> 1 as consent_id
        from json_each(${JSON.stringify(pairs)})) as pairs
      cross join consent_records r on r.user_id = pairs.user_id and r.consent_id = pairs.consent_id and r.is_latest = 1`,
  )
  return new Map(rows.map((row) => [chainKey(row.user_id, row.consent_id), row]))
}

/**
 * The answers that an import adds, by person and definition, for `answerStatements` and `answerAnnouncements`. An
 * answer that is not later than the last one of the person changes nothing: an import never takes a withdrawal back.
 */
export async function importedAnswers(
  ctx: Pick<JobCtx, 'db' | 'newId'>,
  run: AnswerImport,
  answers: readonly ImportedAnswers[],
): Promise<DecidedAnswer[]> {
  const questions = questionsOf(run, answers)
  if (questions.length === 0) return []
  const stored = await latestRecords(ctx.db, questions)
  const chains = new Map<string, DecidedAnswer>()
  for (const question of questions) {
    const { definition, given } = question
    const key = chainKey(given.user.id, definition.id)
    const chain = chains.get(key)
    const before = chain ? latestOf(chain) : (stored.get(key) ?? null)
    if (before !== null && given.at <= before.occurred_at) continue
    const { wording, ...answer } = answerOf(run, question)
    const shown = wording && { wording_version: wording.version, content_hash: wording.content_hash }
    const subject = { definition: { ...definition, ...shown }, user: given.user, before }
    const outcome = await answered(ctx, subject, answer)
    if (outcome.records.length === 0) continue
    const records = [...(chain?.records ?? []), ...outcome.records]
    chains.set(key, { ...outcome, before: chain ? chain.before : before, records })
  }
  return [...chains.values()]
}

/** The active consents of an edition, by the keys that imports name. */
export async function consentsInEdition(
  db: Database,
  edition: Pick<AnswerEdition, 'id' | 'organization_id'>,
): Promise<Pick<DefinitionRow, 'key' | 'name' | 'type'>[]> {
  const rows = await db.all(
    select({ key: consents.key, name: consents.name, type: consents.type, is_active: consents.is_active })
      .from(consents)
      .where(sql`organization_id = ${edition.organization_id} and coalesce(edition_id, '') in ('', ${edition.id})`)
      .orderBy(sql`edition_id is not null`),
  )
  const meant = new Map(rows.map((row) => [row.key, row]))
  return [...meant.values()].filter(({ is_active }) => is_active)
}
