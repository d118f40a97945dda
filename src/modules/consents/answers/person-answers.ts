import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { consents, type ConsentVersionRow, consentVersions } from '../../../db/schema/consents.ts'
import { editions } from '../../../db/schema/editions.ts'
import { decodeAs, makeNullable, type RowOf, select, buildSelectList } from '../../../db/select.ts'
import { buildContactColumn } from '../../../db/customers.ts'
import { inList } from '../../../db/visibility.ts'
import type { Language } from '../../../domain/languages.ts'
import { recordColumns, type RecordRow, rowOfArray } from './records.ts'

/** A consent that applies to a person, and the person's latest answer to it. */
export interface PersonAnswer {
  definition: typeof consents.$inferSelect
  edition: { name: string; default_language: Language; is_archived: boolean } | null
  /** Of the person, as it is shown in events of the consent's edition. */
  email: string | null
  before: RecordRow | null
}

/** Answered ones come first, so that none of them is left out. */
const maxAnswers = 200

const recordValues = sql.join(
  recordColumns.map((name) => sql`r.${sql.raw(name)}`),
  sql`, `,
)

const fields = {
  ...getTableColumns(consents),
  edition_name: makeNullable(editions.full_name),
  default_language: makeNullable(editions.default_language),
  is_archived: makeNullable(editions.is_archived),
  person_email: sql<string | null>`${buildContactColumn(sql`users`, 'email', sql`consents.edition_id`)}`,
  record: sql<RecordRow | null>`iif(r.user_id is null, null, json_array(${recordValues}))`.mapWith(
    rowOfArray<RecordRow | null>(recordColumns),
  ),
}

/**
 * The consents that are offered to a person or have an answer: the organisation's and those of the person's editions,
 * in their order. None for an erased person. No role of a caller limits them, because they are for the person alone.
 * `only` names some of them.
 */
export async function answersOfPerson(
  { db }: Pick<JobCtx, 'db'>,
  person: { id: string; organization_id: string },
  only?: readonly string[],
): Promise<PersonAnswer[]> {
  const offered = sql<RowOf<typeof fields>>`select ${buildSelectList(fields)}
    from users cross join consents on consents.organization_id = users.organization_id
        and coalesce(consents.edition_id, '') in
          (select '' union all select edition_customers.edition_id from edition_customers where user_seq = users.seq)
      left join editions on editions.id = consents.edition_id
      left join consent_records r indexed by consent_records_latest on r.user_id = users.id and r.consent_id = consents.id and r.is_latest = 1
    where users.id = ${person.id} and users.organization_id = ${person.organization_id} and users.erased_at is null
      and (consents.is_active = 1 or r.user_id is not null)
      ${only ? sql`and ${inList(sql`consents.id`, only)}` : sql``}
    order by r.user_id is null, consents.position, consents.id limit ${maxAnswers}`
  const rows = await db.all(decodeAs(fields, offered))
  const answers = rows.map(
    ({ edition_name, default_language, is_archived, person_email, record, ...definition }): PersonAnswer => ({
      definition,
      edition:
        edition_name === null
          ? null
          : { name: edition_name, default_language: default_language ?? 'en', is_archived: is_archived ?? false },
      email: person_email,
      before: record,
    }),
  )
  return answers.toSorted((one, other) => one.definition.position - other.definition.position)
}

type Answered = Pick<RecordRow, 'consent_id' | 'consent_version'>

/** The statement that reads the wording that a record answers. */
export const selectVersion = ({ consent_id, consent_version }: Answered) =>
  select(getTableColumns(consentVersions))
    .from(consentVersions)
    .where(and(eq(consentVersions.consent_id, consent_id), eq(consentVersions.version, consent_version)))

/** The wording that a record answers. */
export const findVersion = ({ db }: Pick<JobCtx, 'db'>, record: Answered): Promise<ConsentVersionRow | undefined> =>
  db.first(selectVersion(record))
