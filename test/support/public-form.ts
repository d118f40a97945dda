import type { PublicForm } from '../../src/modules/signup-forms/public/form.ts'

const long =
  'A wording with Averylongwordthatdoesnotendaverylongwordthatdoesnotend in it.\n\nAnd a second paragraph of it.'

const consent = (id: string, is_required: boolean): PublicForm['consents'][number] => ({
  id,
  name: 'Newsletter',
  title: { en: `The consent ${id} of the festival of the north` },
  text: { en: long },
  link_url: { en: 'https://example.com/privacy' },
  is_required,
  version: 1,
})

/** A form with long texts, for pages that are looked at. */
export const aPublicForm: PublicForm = {
  id: 'sgf_1',
  organization_id: 'org_1',
  edition_id: null,
  organization_name: 'Nordlys & Friends of the Open Air ApS',
  is_archived: null,
  name: 'Footer',
  name_key: 'footer',
  title: { en: 'Hear first from the festival of the north', da: 'Nyhedsbrev' },
  text: { en: long, pl: long },
  languages: ['en', 'da', 'se', 'nl', 'pl'],
  consent_ids: ['con_1', 'con_2'],
  allowed_sites: [],
  redirect_url: null,
  mails_per_hour: 60,
  is_active: true,
  version: 1,
  created_at: 0,
  modified_at: 0,
  consents: [consent('con_1', false), consent('con_2', true)],
  is_open: true,
}
