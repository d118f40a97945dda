import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { buildContactColumn, selectIdOfAddress } from '../../../db/customers.ts'
import type { ConsentVersionRow } from '../../../db/rows.ts'
import { consents, consentVersions } from '../../../db/schema/consents.ts'
import { users } from '../../../db/schema/customers.ts'
import { editions } from '../../../db/schema/editions.ts'
import { decodeAs, fromFlag, makeNullable, type RowOf, select, buildSelectList } from '../../../db/select.ts'
import type { Language } from '../../../domain/languages.ts'
import { isConfirmationWaiting } from '../../transactional-emails/index.ts'
import { recordColumns, type RecordRow, createRowReader } from './records.ts'

/** A consent that applies to a person, and the person's latest answer to it. */
export interface PersonAnswer {
  definition: typeof consents.$inferSelect
  edition: { name: string; default_language: Language; is_archived: boolean } | null
  /** The person's address as the consent's edition knows it, for events. */
  email: string | null
  /** The address to which the person gets mail. */
  address: string | null
  before: RecordRow | null
  /** True if the e-mail that asks to confirm `before` waits for the provider. */
  email_waits: boolean
}

/** Answered consents come first, so that the limit never leaves one of them out. */
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
  address: users.email,
  person_email: sql<string | null>`${buildContactColumn(sql`users`, 'email', sql`consents.edition_id`)}`,
  email_waits: fromFlag(isConfirmationWaiting(sql`r.id`)),
  record: sql<RecordRow | null>`iif(r.user_id is null, null, json_array(${recordValues}))`.mapWith(
    createRowReader<RecordRow | null>(recordColumns),
  ),
}

/**
 * Lists the consents of the organisation and of the person's editions that are active or answered, sorted by position.
 * The list is empty for an erased person. It is shown to the person, so no role limits it. `consentIds` restricts it to
 * these consents.
 */
export async function listPersonAnswers(
  { db }: Pick<JobCtx, 'db'>,
  person: { id: string; organization_id: string },
  consentIds?: readonly string[],
): Promise<PersonAnswer[]> {
  const applicable = sql<RowOf<typeof fields>>`select ${buildSelectList(fields)}
    from users cross join consents on consents.organization_id = users.organization_id
        and coalesce(consents.edition_id, '') in
          (select '' union all select edition_customers.edition_id from edition_customers where user_seq = users.seq)
      left join editions on editions.id = consents.edition_id
      left join consent_records r indexed by consent_records_latest on r.user_id = users.id and r.consent_id = consents.id and r.is_latest = 1
    where users.id = ${person.id} and users.organization_id = ${person.organization_id} and users.erased_at is null
      and (consents.is_active = 1 or r.user_id is not null)
      ${consentIds ? sql`and ${inList(sql`consents.id`, consentIds)}` : sql``}
    order by r.user_id is null, consents.position, consents.id limit ${maxAnswers}`
  const answers = (await db.all(decodeAs(fields, applicable))).map(toPersonAnswer)
  return answers.toSorted((one, other) => one.definition.position - other.definition.position)
}

function toPersonAnswer(row: RowOf<typeof fields>): PersonAnswer {
  const { edition_name, default_language, is_archived, person_email, address, record, email_waits, ...definition } = row
  const edition =
    edition_name === null
      ? null
      : { name: edition_name, default_language: default_language ?? 'en', is_archived: is_archived ?? false }
  return { definition, edition, email: person_email, address, before: record, email_waits }
}

/**
 * Lists these consents with the latest answers of the customer who has the address, or had it before a merge. Without such a customer, `user_id` is
 * null and the consents have no answers.
 */
export async function listAddressAnswers(
  { db }: Pick<JobCtx, 'db'>,
  { organization_id, address }: { organization_id: string; address: string },
  consentIds: readonly string[],
): Promise<{ user_id: string | null; answers: PersonAnswer[] }> {
  const addressFields = { ...fields, user_id: makeNullable(users.id) }
  const rows = await db.all(
    decodeAs(
      addressFields,
      sql<RowOf<typeof addressFields>>`select ${buildSelectList(addressFields)}
        from consents
          left join users on users.id = ${selectIdOfAddress(organization_id, address)}
          left join editions on editions.id = consents.edition_id
          left join consent_records r indexed by consent_records_latest on r.user_id = users.id and r.consent_id = consents.id and r.is_latest = 1
        where ${inList(sql`consents.id`, consentIds)} and consents.organization_id = ${organization_id}`,
    ),
  )
  return {
    user_id: rows[0]?.user_id ?? null,
    answers: rows.map(({ user_id: _, ...row }) => ({ ...toPersonAnswer(row), email: address, address })),
  }
}

type AnsweredWording = Pick<RecordRow, 'consent_id' | 'consent_version'>

/** Selects the wording that a record answers. */
export const selectVersion = ({ consent_id, consent_version }: AnsweredWording) =>
  select(getTableColumns(consentVersions))
    .from(consentVersions)
    .where(and(eq(consentVersions.consent_id, consent_id), eq(consentVersions.version, consent_version)))

export const findVersion = (
  { db }: Pick<JobCtx, 'db'>,
  record: AnsweredWording,
): Promise<ConsentVersionRow | undefined> => db.first(selectVersion(record))
