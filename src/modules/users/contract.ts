import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../domain/accounts/access.ts'
import { maxPhoneLength, messageChannels } from '../../domain/accounts/users.ts'
import {
  EmailAddress,
  Id,
  IdParams,
  JsonObject,
  KnownEmail,
  KnownPhone,
  LastSeen,
  PersonName,
  Timestamp,
} from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import {
  defaultPageSize,
  ListPage,
  type ListRequest,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'

export const User = z
  .object({
    id: Id('usr'),
    email: KnownEmail.nullable().openapi({ description: 'Null for a customer without an e-mail address.' }),
    locale: z.string().openapi({ example: 'da' }),
    msg_channel: z.enum(messageChannels),
    date_joined: Timestamp,
    phone_number: KnownPhone.nullable().openapi({
      description: 'The phone number in E.164 format; null for a customer without one.',
    }),
    first_name: PersonName,
    last_name: PersonName,
    is_verified: z.boolean(),
    is_active: z.boolean(),
    last_seen: LastSeen,
    metadata: JsonObject,
  })
  .openapi('User', {
    description:
      'A customer of an organisation. Roles of an edition see the values that their edition imported; with roles in several editions, the values of the edition that the customer joined last. Only roles of the organisation see `is_verified` and `last_seen`.',
  })

const UpdateUser = z.object({
  email: EmailAddress.nullable().optional(),
  phone_number: z.string().max(maxPhoneLength).nullable().optional().openapi({
    description: 'A number without a country code gets that of the edition that the customer joined last.',
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
  description: 'Lists the customers of your organisations and editions, 100 per page.',
  roles: roleCodes,
  query: listQuery({
    ordering: ['email', 'phone_number', 'date_joined', 'last_seen'],
    filters: {
      edition_id: IdFilter.optional(),
      organization_id: IdFilter.optional(),
      search: TextFilter.optional().openapi({
        description:
          'A phone number or a part of it, or words of names and e-mail addresses in any order. Each may be a part of a word. Texts of one or two characters are searched in the newest 10,000 customers only.',
      }),
    },
    fixedSize: true,
  }),
  response: ListPage(User, defaultPageSize),
})

export type UserQuery = ListRequest<typeof listUsers.query>

export const getUser = operation({
  id: 'getUser',
  tag: 'User',
  method: 'get',
  path: '/v1/user/{id}',
  summary: 'Retrieve a user',
  roles: roleCodes,
  params: IdParams('usr'),
  response: User,
})

export const updateUser = operation({
  id: 'updateUser',
  tag: 'User',
  method: 'patch',
  path: '/v1/user/{id}',
  summary: 'Update a user',
  description: `An e-mail address belongs to one customer of an organisation, and every customer needs an e-mail address or a phone
number. Only roles of the organisation change a customer of several editions; others get 403 \`shared_customer\`.`,
  roles: managers,
  params: IdParams('usr'),
  body: UpdateUser,
  example: { email: 'aegir@example.dk', phone_number: '+45 32 12 34 56', first_name: 'Ægir', last_name: 'Holm' },
  response: User,
  errors: ['shared_customer', 'user_erased'],
})
