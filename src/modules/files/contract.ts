import { z } from '@hono/zod-openapi'
import { roleCodes, managers } from '../../domain/accounts/access.ts'
import {
  filePurposes,
  fileStatuses,
  maxAltTextLength,
  maxFileBytes,
  maxFileTitleLength,
  maxTagLength,
  maxTags,
} from '../../domain/files/files.ts'
import { maxNameLength } from '../../domain/files/names.ts'
import { fileTypes } from '../../domain/files/types.ts'
import { Id, IdParams, Image, JsonObject, orNull, RequiredText, Timestamp, Translated } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import {
  BooleanFilter,
  ListPage,
  type ListRequest,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'

export const Title = z.string().trim().max(maxFileTitleLength)
const AltText = Translated(maxAltTextLength).openapi({
  description: 'What the image shows, by language.',
  example: { en: 'The main stage at night' },
})
export const FileName = RequiredText(maxNameLength).openapi({ example: 'poster.png' })
const Purpose = z.enum(filePurposes)
export const Tags = z
  .array(RequiredText(maxTagLength))
  .max(maxTags)
  .refine((tags) => new Set(tags).size === tags.length, {
    params: { code: 'repeated' },
    message: 'Must not contain a tag twice.',
  })
  .openapi({ uniqueItems: true, example: ['poster'] })

const FileUse = z.object({ type: z.string(), id: z.string(), name: z.string(), field: z.string() }).openapi('FileUse')

export const File = z
  .object({
    id: Id('fil'),
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null when the file belongs to the whole organisation.' }),
    name: FileName,
    title: Title,
    alt_text: AltText,
    purpose: Purpose,
    mime_type: z
      .string()
      .openapi({ description: 'The type of the content, whatever type was declared.', example: 'image/png' }),
    size: z.int().min(0).openapi({ description: 'The size in bytes.' }),
    checksum_sha256: z.string().openapi({ description: 'The SHA-256 of the bytes in hexadecimal.' }),
    width: z.int().nullable().openapi({ description: 'The width in pixels. Null when the file is not an image.' }),
    height: z.int().nullable().openapi({ description: 'The height in pixels. Null when the file is not an image.' }),
    status: z.enum(fileStatuses).openapi({ description: '`quarantined` until a scanner has found the file clean.' }),
    url: z.string().nullable().openapi({
      description: 'The URL of the bytes. For import files it works for 15 minutes, and is null for viewers.',
    }),
    image: orNull(Image).openapi({ description: 'Null when the file is not an image.' }),
    is_used: z.boolean(),
    used_by: z
      .array(FileUse)
      .max(20)
      .openapi({ description: 'The resources that use the file, as far as you may see them: at most 20.' }),
    uploaded_by: Id('usr')
      .nullable()
      .openapi({ description: 'The account that uploaded the file. Null for the superuser of the platform.' }),
    tags: Tags,
    metadata: JsonObject,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('File')

/** The fields of an upload besides its bytes. */
const UploadFields = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt').optional().openapi({ description: 'Without it, the file belongs to the whole organisation.' }),
  purpose: Purpose.optional().openapi({ description: 'By default it follows from the type.' }),
  title: Title.default(''),
  alt_text: AltText.default({}),
  tags: Tags.default([]),
  metadata: JsonObject.default({}),
})

const UpdateFile = z.object({
  name: FileName.optional(),
  title: Title.optional(),
  alt_text: AltText.optional(),
  tags: Tags.optional(),
  metadata: JsonObject.optional(),
  purpose: Purpose.optional(),
  edition_id: Id('edt')
    .nullable()
    .optional()
    .openapi({ description: 'Null moves the file to the whole organisation.' }),
})

export type UploadInput = z.output<typeof UploadFields>
export type UpdateFileInput = z.output<typeof UpdateFile>

export const tag = 'Files' as const

const listFilesQuery = listQuery({
  ordering: ['created', 'modified', 'name', 'size'],
  filters: {
    organization_id: IdFilter.optional(),
    edition_id: IdFilter.optional(),
    purpose: Purpose.optional(),
    mime_type: z.string().max(100).optional(),
    is_used: BooleanFilter.optional().openapi({
      description: 'True: only files that something uses. False: only files that nothing uses.',
    }),
    search: TextFilter.optional().openapi({ description: 'Searches the name and the title.' }),
  },
})

export type FileQuery = ListRequest<typeof listFilesQuery>

export const listFiles = operation({
  id: 'listFiles',
  tag,
  method: 'get',
  path: '/v1/files',
  summary: 'List files',
  description: 'Returns files, newest first.',
  roles: roleCodes,
  query: listFilesQuery,
  response: ListPage(File),
})

const IdInQuery = (prefix: string, description: string) =>
  IdFilter.optional().openapi({ pattern: `^${prefix}_`, description })

export const uploadFile = operation({
  id: 'uploadFile',
  tag,
  method: 'post',
  path: '/v1/files',
  summary: 'Upload a file',
  description: `Send a form with the part \`file\`, or the bytes themselves with \`Content-Disposition: attachment; filename="…"\` and
the fields in the query. You can upload PNG, JPEG, WebP, GIF and AVIF images (10 MB and 40 million pixels), PDF documents
(25 MB), and tables (50 MB): CSV, XLSX, and ZIP archives of CSV files. The type is detected from the content. SVG and HTML are refused, because they can
contain scripts. Equal files of an organisation take up storage only once.`,
  roles: managers,
  status: 201,
  query: z.object({
    organization_id: IdInQuery('org', 'Use it if the body is the file itself.'),
    edition_id: IdInQuery('edt', 'Use it if the body is the file itself.'),
    purpose: Purpose.optional().openapi({ description: 'Use it if the body is the file itself.' }),
    title: z
      .string()
      .max(maxFileTitleLength)
      .optional()
      .openapi({ description: 'Use it if the body is the file itself.' }),
  }),
  body: UploadFields,
  stream: {
    types: [...Object.keys(fileTypes), 'application/octet-stream'],
    form: { jsonFields: ['alt_text', 'metadata'], listFields: ['tags'] },
    maxBytes: maxFileBytes,
    maxReadMs: 300_000,
    description: `The file in a form or by itself. The parts of a form can have any order. Send one part \`tags\` for each tag, or
one part with a JSON array. \`alt_text\` and \`metadata\` are JSON.`,
  },
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    title: 'Poster',
    alt_text: { en: 'The main stage at night' },
    file: 'The bytes of poster.png',
  },
  response: File,
  errors: ['edition_archived', 'empty_file', 'invalid_image', 'type_mismatch', 'unsupported_file_type', 'storage_full'],
})

export const getFile = operation({
  id: 'getFile',
  tag,
  method: 'get',
  path: '/v1/files/{id}',
  summary: 'Retrieve a file',
  description: 'Returns the description of a file. `url` has its bytes.',
  roles: roleCodes,
  params: IdParams('fil'),
  response: File,
})

export const updateFile = operation({
  id: 'updateFile',
  tag,
  method: 'patch',
  path: '/v1/files/{id}',
  summary: 'Update a file',
  description: 'You cannot change the bytes of a file. Upload a new file instead.',
  roles: managers,
  params: IdParams('fil'),
  body: UpdateFile,
  example: { title: 'Poster', alt_text: { en: 'The main stage at night' } },
  response: File,
  errors: ['edition_archived', 'file_in_use'],
})

export const deleteFile = operation({
  id: 'deleteFile',
  tag,
  method: 'delete',
  path: '/v1/files/{id}',
  summary: 'Delete a file',
  description: 'You cannot delete a file that something uses: 409 `file_in_use` names the uses.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('fil'),
  errors: ['edition_archived', 'file_in_use'],
})
