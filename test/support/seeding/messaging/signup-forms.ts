import { signupForms } from '../../../../src/db/schema/signup-forms.ts'
import { insertAll } from '../../../../src/db/write.ts'
import { buildSortKey } from '../../../../src/domain/text/fold.ts'
import { create } from '../../api.ts'
import { freshId, seededAt, type WidePlace, write } from '../rows.ts'
import { givenConsent, seedConsent } from './consents.ts'

export const site = 'https://www.festival.example'

/** Creates a form with one consent by the API, and returns both. */
export async function givenForm(
  { organization, edition }: WidePlace,
  fields: Record<string, unknown> = {},
  consentFields: Record<string, unknown> = {},
) {
  const consent = await givenConsent(organization, { edition_id: edition, ...consentFields })
  const form = await create('/v1/signup-forms', aForm(organization, edition, [consent.id], fields))
  return { form, consent, path: `/signup/${form.id}` }
}

export const aForm = (
  organization: string,
  edition: string | null,
  consentIds: readonly string[],
  fields: Record<string, unknown> = {},
) => ({
  organization_id: organization,
  edition_id: edition,
  name: 'Footer of the site',
  title: { en: 'Newsletter', da: 'Nyhedsbrev' },
  text: { en: 'Hear first when tickets go on sale.' },
  languages: ['en', 'da'],
  consent_ids: consentIds,
  allowed_sites: [site],
  ...fields,
})

/** Seeds forms, some with equal names and times. Returns their ids. */
export async function seedForms(
  { organization, edition }: WidePlace,
  count: number,
  columns: Partial<typeof signupForms.$inferInsert> = {},
): Promise<string[]> {
  const consent = await seedConsent({ organization, edition })
  const rows = Array.from({ length: count }, (_, index) => ({
    id: freshId('signup_form'),
    organization_id: organization,
    edition_id: edition,
    name: `Form ${index % 3}`,
    name_key: buildSortKey(`Form ${index % 3}`),
    languages: ['en' as const],
    consent_ids: [consent],
    allowed_sites: [site],
    mails_per_hour: 60,
    is_active: index % 2 === 0,
    created_at: seededAt + (index % 5),
    modified_at: seededAt + (index % 5),
    ...columns,
  }))
  await write(...insertAll(signupForms, rows))
  return rows.map(({ id }) => id)
}

export const seedForm = async (
  place: WidePlace,
  columns: Partial<typeof signupForms.$inferInsert> = {},
): Promise<string> => (await seedForms(place, 1, columns))[0] ?? ''
