import { z } from '@hono/zod-openapi'
import { organizationManagersAndEditionAdmins, roleCodes } from '../../domain/accounts/access.ts'
import { maxConsentNameLength, maxConsentTextLength, maxConsentTitleLength } from '../../domain/consents/consents.ts'
import {
  defaultMailsPerHour,
  maxAllowedSites,
  maxFormConsents,
  maxMailsPerHour,
  maxRedirectLength,
  maxSiteLength,
  parseSite,
} from '../../domain/consents/signups.ts'
import { languages } from '../../domain/languages.ts'
import { isWebAddress } from '../../domain/text/text.ts'
import {
  distinct,
  EditionSummary,
  Id,
  IdParams,
  LanguageInput,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
  Translated,
} from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { BooleanFilter, IdFilter, listQuery, ListPage, type ListRequest } from '../../http/requests/list-query.ts'

const Site = z
  .string()
  .max(maxSiteLength)
  .transform((text, context) => {
    const site = parseSite(text)
    if (site !== null) return site
    context.addIssue({
      code: 'custom',
      params: { code: 'malformed_site' },
      message: 'Must be the https address of a site without a path, for example https://www.example.com.',
    })
    return z.NEVER
  })
  .openapi({ format: 'uri', example: 'https://www.example.com' })

const Title = Translated(maxConsentTitleLength).openapi({ example: { en: 'Newsletter', da: 'Nyhedsbrev' } })
const Text = Translated(maxConsentTextLength).openapi({ example: { en: 'Hear first when tickets go on sale.' } })
const Languages = distinct(LanguageInput, 1, languages.length).openapi({
  description: 'The languages of the page. The first one is shown to people who read none of them.',
  example: ['en', 'da'],
})
const ConsentIds = distinct(Id('con'), 1, maxFormConsents).openapi({
  description:
    'The consents that the page asks for, in this order. They belong to the edition or organisation of the form.',
})
const AllowedSites = distinct(Site, 0, maxAllowedSites).openapi({
  description: 'The sites that may embed the page or post to it. Nobody else may, except for the page itself.',
})
const RedirectUrl = z
  .string()
  .max(maxRedirectLength)
  .refine(isWebAddress, { params: { code: 'malformed_url' }, message: 'Must begin with https:// or http://.' })
  .nullable()
  .openapi({
    format: 'uri',
    description:
      'Where a visitor goes after signing up: a page of one of `allowed_sites`. Null: a page that tells them to look into their mailbox.',
    example: 'https://www.example.com/thanks',
  })
const MailsPerHour = z
  .int()
  .min(1)
  .max(maxMailsPerHour)
  .openapi({ description: 'The number of sign-ups that the form accepts in an hour. More get 429.' })
const Name = RequiredText(maxConsentNameLength).openapi({
  description: 'Your name for the form. Visitors do not see it.',
})

export const SignupForm = z
  .object({
    id: Id('sgf'),
    organization: OrganizationSummary,
    edition: orNull(EditionSummary).openapi({ description: 'Null for a form of the whole organisation.' }),
    name: Name,
    title: Title,
    text: Text,
    languages: Languages,
    consent_ids: distinct(Id('con'), 0, maxFormConsents).openapi({
      description: 'The consents that the page asks for, in this order, without those that were deleted.',
    }),
    allowed_sites: AllowedSites,
    redirect_url: RedirectUrl,
    mails_per_hour: MailsPerHour,
    is_active: z.boolean().openapi({ description: 'False closes the page. Requests can still be confirmed.' }),
    public_url: z
      .string()
      .openapi({ description: 'The address of the page, to which forms of your site can post too.' }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('SignupForm')

const CreateSignupForm = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt').nullable().optional().openapi({ description: 'Omit it for a form of the whole organisation.' }),
  name: Name,
  title: Title.default({}),
  text: Text.default({}),
  languages: Languages,
  consent_ids: ConsentIds,
  allowed_sites: AllowedSites.default([]),
  redirect_url: RedirectUrl.default(null),
  mails_per_hour: MailsPerHour.default(defaultMailsPerHour),
  is_active: z.boolean().default(true),
})

const UpdateSignupForm = z.object({
  name: Name.optional(),
  title: Title.optional(),
  text: Text.optional(),
  languages: Languages.optional(),
  consent_ids: ConsentIds.optional(),
  allowed_sites: AllowedSites.optional(),
  redirect_url: RedirectUrl.optional(),
  mails_per_hour: MailsPerHour.optional(),
  is_active: z.boolean().optional(),
})

export type CreateSignupFormInput = z.output<typeof CreateSignupForm>
export type UpdateSignupFormInput = z.output<typeof UpdateSignupForm>

const tag = 'Consents' as const
const path = '/v1/signup-forms'

export const listSignupForms = operation({
  id: 'listSignupForms',
  tag,
  method: 'get',
  path,
  summary: 'List sign-up forms',
  description: 'With a role in an edition you see the forms of that edition.',
  roles: roleCodes,
  query: listQuery({
    ordering: ['created', 'modified', 'name'],
    filters: {
      organization_id: IdFilter.optional(),
      edition_id: IdFilter.optional(),
      is_active: BooleanFilter.optional(),
    },
  }),
  response: ListPage(SignupForm),
})

export type SignupFormQuery = ListRequest<typeof listSignupForms.query>

export const createSignupForm = operation({
  id: 'createSignupForm',
  tag,
  method: 'post',
  path,
  summary: 'Create a sign-up form',
  description: `Makes a public page at \`public_url\` on which people sign up for consents. They always confirm by a link in
an e-mail. Until then no customer and no answer is stored.`,
  roles: organizationManagersAndEditionAdmins,
  status: 201,
  body: CreateSignupForm,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: 'Footer of the site',
    title: { en: 'Newsletter' },
    languages: ['en'],
    consent_ids: ['con_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'],
    allowed_sites: ['https://www.example.com'],
    redirect_url: 'https://www.example.com/thanks',
  },
  response: SignupForm,
  errors: ['edition_archived'],
})

export const getSignupForm = operation({
  id: 'getSignupForm',
  tag,
  method: 'get',
  path: `${path}/{id}`,
  summary: 'Retrieve a sign-up form',
  roles: roleCodes,
  params: IdParams('sgf'),
  response: SignupForm,
})

export const updateSignupForm = operation({
  id: 'updateSignupForm',
  tag,
  method: 'patch',
  path: `${path}/{id}`,
  summary: 'Update a sign-up form',
  roles: organizationManagersAndEditionAdmins,
  params: IdParams('sgf'),
  body: UpdateSignupForm,
  example: { allowed_sites: ['https://www.example.com', 'https://tickets.example.com'] },
  response: SignupForm,
  errors: ['edition_archived'],
})

export const deleteSignupForm = operation({
  id: 'deleteSignupForm',
  tag,
  method: 'delete',
  path: `${path}/{id}`,
  summary: 'Delete a sign-up form',
  description: 'Its page and the links in its e-mails stop working.',
  agentAccess: 'confirm',
  roles: organizationManagersAndEditionAdmins,
  status: 204,
  params: IdParams('sgf'),
  errors: ['edition_archived'],
})
