import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { consents } from '../../../db/schema/consents.ts'
import { editions } from '../../../db/schema/editions.ts'
import { organizations } from '../../../db/schema/organizations.ts'
import { signupForms } from '../../../db/schema/signup-forms.ts'
import { buildSelectList, decodeAs, makeNullable, type RowOf, select } from '../../../db/select.ts'
import { isId } from '../../../domain/ids.ts'
import { type Language, parseLanguage } from '../../../domain/languages.ts'

const formFields = {
  ...getTableColumns(signupForms),
  organization_name: organizations.name,
  is_archived: makeNullable(editions.is_archived),
}

const consentFields = {
  id: consents.id,
  name: consents.name,
  title: consents.title,
  text: consents.text,
  link_url: consents.link_url,
  is_required: consents.is_required,
  version: consents.wording_version,
}

export type FormConsent = RowOf<typeof consentFields>

/** A form as its visitors see it. */
export interface PublicForm extends RowOf<typeof formFields> {
  /** The consents of the form that are active. */
  consents: readonly FormConsent[]
  is_open: boolean
}

/** Loads a form by the id in its public address. Everybody may open it, so no role limits it. */
export async function loadPublicForm(
  { config, db }: Pick<JobCtx, 'config' | 'db'>,
  id: string,
): Promise<PublicForm | null> {
  if (!isId('signup_form', id)) return null
  const [[form], formConsents] = await db.batch([
    select(formFields)
      .from(signupForms)
      .innerJoin(organizations, eq(organizations.id, signupForms.organization_id))
      .leftJoin(editions, eq(editions.id, signupForms.edition_id))
      .where(eq(signupForms.id, id)),
    decodeAs(
      consentFields,
      sql<FormConsent>`select ${buildSelectList(consentFields)}
        from signup_forms cross join json_each(signup_forms.consent_ids) as item join consents on consents.id = item.value
        where signup_forms.id = ${id} and consents.is_active = 1 order by item.key`,
    ),
  ])
  if (!form) return null
  return {
    ...form,
    consents: formConsents,
    // Without a key this service cannot make the links that confirm.
    is_open: form.is_active && !form.is_archived && formConsents.length > 0 && config.linkSigningKey !== '',
  }
}

/** Bounds how much of a header is parsed. */
const maxHeaderLength = 200

/** The requested language, or the first one that the browser accepts, or else the form's first. */
export function chooseFormLanguage(
  { languages }: Pick<PublicForm, 'languages'>,
  requestedLanguage: string | undefined,
  acceptedLanguages = '',
): Language {
  const tags = [requestedLanguage ?? '', ...acceptedLanguages.slice(0, maxHeaderLength).split(',')]
  const choices = tags.map(parseLanguage)
  return choices.find((language) => language !== null && languages.includes(language)) ?? languages[0] ?? 'en'
}
