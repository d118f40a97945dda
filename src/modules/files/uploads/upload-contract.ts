import { z } from '@hono/zod-openapi'
import { managers } from '../../../domain/accounts/access.ts'
import { maxUploadBytes, partBytes } from '../../../domain/files/files.ts'
import { mayBeTable } from '../../../domain/files/types.ts'
import { Id, IdParams, JsonObject, Timestamp } from '../../../http/fields.ts'
import { action, operation } from '../../../http/operations/operation.ts'
import { File, FileName, tag, Tags, Title } from '../contract.ts'

const Size = z
  .int()
  .min(1)
  .max(maxUploadBytes)
  .openapi({ description: 'The size of the whole file in bytes.', example: 20_000_000 })

const ContentType = z.string().max(255)

const Part = z
  .object({ number: z.int().openapi({ example: 1 }), size: z.int(), checksum_sha256: z.string() })
  .openapi('FileUploadPart')

export const FileUpload = z
  .object({
    id: Id('upl'),
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null when the file belongs to the whole organisation.' }),
    name: FileName,
    title: Title,
    tags: Tags,
    metadata: JsonObject,
    size: Size,
    content_type: ContentType.nullable().openapi({
      description: 'The declared type, or null. The file gets the type of its content.',
      example: 'text/csv',
    }),
    part_size: z.int().openapi({ description: 'The size of every part except the last one.', example: partBytes }),
    part_count: z.int(),
    parts: z.array(Part).max(100).openapi({ description: 'The parts that you have sent.' }),
    file_id: Id('fil').nullable().openapi({ description: 'Null until the upload is completed.' }),
    expires: Timestamp.openapi({ description: 'If it is not completed, the upload is deleted at this time.' }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('FileUpload')

const StartUpload = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt')
    .nullable()
    .optional()
    .openapi({ description: 'Without it, the file belongs to the whole organisation.' }),
  name: FileName,
  size: Size,
  content_type: ContentType.refine(mayBeTable, {
    params: { code: 'invalid_choice' },
    message: 'Only CSV and XLSX tables and ZIP archives of CSV files can be uploaded in parts.',
  })
    .nullable()
    .optional()
    .openapi({
      description:
        'The type of the whole file. Text with a single column is accepted as a table only if this is `text/csv`.',
      example: 'text/csv',
    }),
  title: Title.default(''),
  tags: Tags.default([]),
  metadata: JsonObject.default({}),
})

export type StartUploadInput = z.output<typeof StartUpload>

const path = '/v1/files/uploads'

export const startFileUpload = operation({
  id: 'startFileUpload',
  tag,
  method: 'post',
  path,
  summary: 'Start an upload in parts',
  description: `For tables of up to 500 MB to import. Send the parts in any order, several at once, and again after a failure. Then
complete the upload. Its bytes count against the organisation's storage from the start. An upload that you do not complete is
deleted after a day.`,
  roles: managers,
  status: 201,
  body: StartUpload,
  example: { organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', name: 'orders-2025.csv', size: 20_000_000 },
  response: FileUpload,
  errors: ['edition_archived', 'storage_full'],
})

export const getFileUpload = operation({
  id: 'getFileUpload',
  tag,
  method: 'get',
  path: `${path}/{id}`,
  summary: 'Retrieve an upload',
  description: 'Send the parts that are missing in `parts`.',
  roles: managers,
  params: IdParams('upl'),
  response: FileUpload,
})

export const putFileUploadPart = operation({
  id: 'putFileUploadPart',
  tag,
  method: 'put',
  path: `${path}/{id}/parts/{number}`,
  summary: 'Send a part of an upload',
  description: `Part numbers start at 1. Every part except the last one must have \`part_size\` bytes. The header
\`Content-Digest: sha-256=:<base64>:\` (RFC 9530) is required and must match the bytes. Sending a part again replaces it.`,
  roles: managers,
  params: IdParams('upl').extend({
    number: z
      .string()
      .openapi({ param: { name: 'number', in: 'path' }, description: 'The number of the part, from 1.', example: '1' }),
  }),
  stream: {
    types: ['application/octet-stream'],
    form: null,
    maxBytes: partBytes,
    maxReadMs: 300_000,
    description: 'The bytes of the part.',
  },
  response: FileUpload,
  errors: ['edition_archived', 'checksum_mismatch', 'upload_completed'],
})

export const completeFileUpload = operation({
  id: 'completeFileUpload',
  tag,
  ...action(path, 'upl', 'complete'),
  summary: 'Complete an upload',
  description: 'Joins the parts into a file. Completing the upload again returns the same file.',
  roles: managers,
  status: 201,
  response: File,
  errors: [
    'edition_archived',
    'empty_file',
    'invalid_image',
    'type_mismatch',
    'unsupported_file_type',
    'file_too_large',
    'upload_incomplete',
  ],
})

export const abortFileUpload = operation({
  id: 'abortFileUpload',
  tag,
  method: 'delete',
  path: `${path}/{id}`,
  summary: 'Abort an upload',
  description: 'Deletes the upload and its parts.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('upl'),
  errors: ['edition_archived', 'upload_completed'],
})
