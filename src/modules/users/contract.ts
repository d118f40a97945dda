import { z } from '@hono/zod-openapi'
import { maxEmailLength, maxPhoneLength, messageChannels, normalizeEmail } from '../../domain/accounts/users.ts'
import { Id, IdParams, JsonObject, KnownEmail, KnownPhone, PersonName, Timestamp } from '../../http/fields.ts'
import {
  defaultPageSize,
  ListPage,
  type ListFilters,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'

export const User = z
  .object({
    id: Id('usr'),
    email: KnownEmail.nullable().openapi({ description: 'Null for a customer with a number alone.' }),
    locale: z.string().openapi({ example: 'da' }),
    msg_channel: z.enum(messageChannels),
    date_joined: Timestamp,
    phone_number: KnownPhone.nullable().openapi({ description: 'E.164; null for a customer without a number.' }),
    first_name: PersonName,
    last_name: PersonName,
    is_verified: z.boolean(),
    is_active: z.boolean(),
    last_seen: Timestamp.nullable().openapi({ description: 'Null until the customer is seen.' }),
    metadata: JsonObject,
  })
  .openapi('User', {
    description:
      'A customer of an organisation. Roles of an edition see the values that imports of their edition brought; with several editions, those of the edition that the customer joined last. `is_verified` and `last_seen` are shown to roles of the organisation only.',
  })

/** An e-mail address in the form in which it is stored. */
const Email = z
  .string()
  .max(maxEmailLength)
  .transform((text, context) => {
    const email = normalizeEmail(text)
    if (email !== null) return email
    context.addIssue({ code: 'custom', params: { code: 'invalid_email' }, message: 'This is not an e-mail address.' })
    return z.NEVER
  })
  .openapi({ format: 'email', example: 'aegir@example.dk' })

const UpdateUser = z.object({
  email: Email.nullable().optional(),
  phone_number: z.string().max(maxPhoneLength).nullable().optional().openapi({
    description: 'Numbers without a country are of the country of the edition that the customer joined last.',
    example: '+45 32 12 34 56',
  }),
  first_name: PersonName.optional(),
  last_name: PersonName.optional(),
})

export type UpdateUserInput = z.output<typeof UpdateUser>

export const listUsers = operation({
  id: 'listUsers',
  tag: 'User',
  method: 'get',
  path: '/v1/user',
  summary: 'List users',
  description: 'Customers of the editions that the caller may see. Pages have 100 customers.',
  roles: ['OA', 'OM', 'OV', 'EA', 'EM', 'EV'],
  query: listQuery({
    ordering: ['email', 'phone_number', 'date_joined', 'last_seen'],
    filters: {
      edition_id: IdFilter.optional(),
      organization_id: IdFilter.optional(),
      search: TextFilter.optional().openapi({
        description:
          'Part of a name, an e-mail address or a telephone number. One or two letters are looked for among the newest 10,000 customers.',
      }),
    },
    fixedSize: true,
  }),
  response: ListPage(User, defaultPageSize),
})

export type UserFilters = ListFilters<typeof listUsers.query>

export const getUser = operation({
  id: 'getUser',
  tag: 'User',
  method: 'get',
  path: '/v1/user/{id}',
  summary: 'Retrieve a user',
  roles: ['OA', 'OM', 'OV', 'EA', 'EM', 'EV'],
  params: IdParams('usr'),
  response: User,
})

export const updateUser = operation({
  id: 'updateUser',
  tag: 'User',
  method: 'patch',
  path: '/v1/user/{id}',
  summary: 'Update a user',
  description: `An e-mail address belongs to one customer of an organisation. A customer keeps an address or a number.
A customer of several editions is changed by roles of the organisation, for others it is 403 \`shared_customer\`.`,
  roles: ['OA', 'OM', 'EA', 'EM'],
  params: IdParams('usr'),
  body: UpdateUser,
  example: { email: 'aegir@example.dk', phone_number: '+45 32 12 34 56', first_name: 'Ægir', last_name: 'Holm' },
  response: User,
  errors: ['shared_customer', 'user_erased'],
})
