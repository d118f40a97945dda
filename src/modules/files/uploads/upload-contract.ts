import { z } from '@hono/zod-openapi'
import { maxUploadBytes, partBytes } from '../../../domain/files/files.ts'
import { mayBeTable } from '../../../domain/files/types.ts'
import { Id, IdParams, JsonObject, Timestamp } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { File, FileName, tag, Tags, Title, writers } from '../contract.ts'

const Size = z
  .int()
  .min(1)
  .max(maxUploadBytes)
  .openapi({ description: 'Bytes of the whole file.', example: 20_000_000 })

const ContentType = z.string().max(255)

const Part = z
  .object({ number: z.int().openapi({ example: 1 }), size: z.int(), checksum_sha256: z.string() })
  .openapi('FileUploadPart')

export const FileUpload = z
  .object({
    id: Id('upl'),
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for a file of the whole organisation.' }),
    name: FileName,
    title: Title,
    tags: Tags,
    metadata: JsonObject,
    size: Size,
    content_type: ContentType.nullable().openapi({
      description: 'As it was declared; null where nothing was. The file has the type of its content.',
      example: 'text/csv',
    }),
    part_size: z.int().openapi({ description: 'Bytes of each part but the last.', example: partBytes }),
    part_count: z.int(),
    parts: z.array(Part).max(100).openapi({ description: 'Those that are there.' }),
    file_id: Id('fil').nullable().openapi({ description: 'Null until the upload is completed.' }),
    expires: Timestamp.openapi({ description: 'Without being completed it is dropped then.' }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('FileUpload')

const StartUpload = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt')
    .nullable()
    .optional()
    .openapi({ description: 'Without it the file belongs to the whole organisation.' }),
  name: FileName,
  size: Size,
  content_type: ContentType.refine(mayBeTable, {
    params: { code: 'invalid_choice' },
    message: 'Uploads in parts are CSV or XLSX tables.',
  })
    .nullable()
    .optional()
    .openapi({
      description: 'Of the whole file. Text in a single column is taken as a table where this says `text/csv`.',
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
  description: `For tables of up to 500 MB that are to be imported. Send the parts in any order, several at once and again after
a failure, then complete the upload. Its bytes count for the organisation from now on; it is dropped after a day.`,
  roles: writers,
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
  description: '`parts` are those that are there: send the others.',
  roles: writers,
  params: IdParams('upl'),
  response: FileUpload,
})

export const putFileUploadPart = operation({
  id: 'putFileUploadPart',
  tag,
  method: 'put',
  path: `${path}/{id}/parts/{number}`,
  summary: 'Send a part of an upload',
  description: `Numbers begin with 1. Each part but the last has \`part_size\` bytes. \`Content-Digest: sha-256=:<base64>:\` (RFC 9530)
is required, and the bytes are held against it. A part that is sent again replaces the earlier one.`,
  roles: writers,
  params: IdParams('upl').extend({
    number: z
      .string()
      .openapi({ param: { name: 'number', in: 'path' }, description: 'Of the part, from 1.', example: '1' }),
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
  method: 'post',
  path: `${path}/{id}/complete`,
  summary: 'Complete an upload',
  description: 'Makes one file of the parts. Completing again answers the same file.',
  roles: writers,
  status: 201,
  params: IdParams('upl'),
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
  description: 'Drops the parts that are there.',
  roles: writers,
  status: 204,
  params: IdParams('upl'),
  errors: ['edition_archived', 'upload_completed'],
})
